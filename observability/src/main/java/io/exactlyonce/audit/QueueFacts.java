package io.exactlyonce.audit;

import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE;

import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The rules' input about one listener on one queue.
 *
 * @param subscription the subscription, with the listener's visibility timeout
 * @param settings the application's settings
 * @param queue the queue's attributes
 * @param deadLetters the attributes of the dead-letter queue; without values if there is none
 * @param unknown why attributes of one of the two queues could not be read; {@code null} if all were read
 * @param renewalRefusal {@code null} if the listener may change the visibility of messages, {@link #DENIED} if not, or
 *     else why the permission is unknown
 * @param client the listener's client
 * @param p99 the 99th percentile of the listener's deliveries; {@code null} if too few were measured
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
     * The rules' input about a client.
     *
     * @param polls how many polls, of all queues together, may wait for messages with this client at the same time
     * @param connections the limit of the client's connections; {@code null} if unknown
     * @param pollTimeout how long a poll waits for messages
     * @param callTimeout the configured {@code apiCallTimeout}; {@code null} if none is configured or known
     * @param attemptTimeout the configured {@code apiCallAttemptTimeout}; {@code null} if none is configured or known
     * @param patience the approximate client timeout that ended a poll too early; {@code null} if no poll was ended
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
