package io.exactlyonce.autoconfigure;

import io.exactlyonce.listener.QueueUnavailableException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a {@link QueueUnavailableException}. */
final class QueueUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<QueueUnavailableException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, QueueUnavailableException failure) {
        String action = "Create the queue '%s' with a dead-letter queue, or correct queueNames of the listener '%s'; "
                        .formatted(failure.queue(), failure.listener())
                + "check region, endpoint and credentials under spring.cloud.aws. Missing queues are created at start-up, "
                + "without a dead-letter queue, only if spring.cloud.aws.sqs.queue-not-found-strategy=create says so.";
        return new FailureAnalysis(failure.getMessage(), action, failure);
    }
}
