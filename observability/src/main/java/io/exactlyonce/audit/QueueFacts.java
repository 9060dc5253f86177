package io.exactlyonce.audit;

import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE;

import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The values that the audit's rules compare, for one listener on one queue.
 *
 * @param queue the queue's attributes
 * @param deadLetters the dead-letter queue's attributes; without values if there is none
 * @param unknown why an attribute could not be read; {@code null} if all were read
 * @param renewalRefusal why the listener cannot renew visibility timeouts: {@link #DENIED} or the error of the test;
 *     {@code null} if it can
 * @param client settings of the listener's SQS client
 * @param p99 the 99th percentile of the listener's latencies; {@code null} if too few deliveries were measured
 */
record QueueFacts(
        Subscription subscription,
        QueueAudit.Settings settings,
        QueueAttributes queue,
        QueueAttributes deadLetters,
        @Nullable String unknown,
        @Nullable String renewalRefusal,
        Client client,
        @Nullable Duration p99) {

    /**
     * Settings of an SQS client.
     *
     * @param polls how many polls can run at the same time with this client, which may serve several queues
     * @param connections how many connections the HTTP client allows; {@code null} if unknown
     * @param pollTimeout how long a poll waits for messages
     * @param callTimeout the configured {@code apiCallTimeout}; {@code null} if not configured or unknown
     * @param attemptTimeout the configured {@code apiCallAttemptTimeout}; {@code null} if not configured or unknown
     * @param patience the client's timeout, measured from a poll that the client ended too early; {@code null} if there
     *     was no such poll
     */
    record Client(
            int polls,
            @Nullable Integer connections,
            Duration pollTimeout,
            @Nullable Duration callTimeout,
            @Nullable Duration attemptTimeout,
            @Nullable Duration patience) {}

    static final String DENIED = "access denied";

    QueueObserver.Levels levels() {
        return new QueueObserver.Levels(
                queue.number(APPROXIMATE_NUMBER_OF_MESSAGES),
                queue.number(APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE),
                queue.number(APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED),
                deadLetters.number(APPROXIMATE_NUMBER_OF_MESSAGES));
    }
}
