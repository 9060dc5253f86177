package io.exactlyonce.testing.wire;

/** Answers requests: an SQS server, or a proxy in front of one. */
@FunctionalInterface
public interface SqsBackend {

    /** Returns the answer, {@link SqsAnswer#LOST} if there is none; called by many threads at once. */
    SqsAnswer answer(SqsCall call);
}
