package io.exactlyonce.testing.wire;

/** Answers requests: an SQS server, or a proxy in front of one. */
@FunctionalInterface
public interface SqsBackend {

    /** Returns the answer, or {@link SqsAnswer#LOST} if there is none. Many threads call this method at once. */
    SqsAnswer answer(SqsCall call);
}
