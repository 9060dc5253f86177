package io.exactlyonce.audit;

import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE;

import io.exactlyonce.visibility.QueueAttributes;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The rules' input about one listener on one queue.
 *
 * @param subscription with the listener's visibility timeout
 * @param settings the application's settings
 * @param queue the queue's attributes
 * @param deadLetters the attributes of its dead-letter queue, if there is one
 * @param unknown why attributes of either could not be read; {@code null} if they were
 * @param renewalRefusal {@link #DENIED} if the listener may not change the visibility of messages, or why that is unknown;
 *     {@code null} if it may
 * @param polls how many queues the listener's client polls
 * @param connections the most that this client has at a time; {@code null} if that is unknown
 * @param p99 of the listener's deliveries; {@code null} if too few have been measured
 */
record QueueFacts(
        Subscription subscription,
        QueueAudit.Settings settings,
        QueueAttributes queue,
        QueueAttributes deadLetters,
        @Nullable String unknown,
        @Nullable String renewalRefusal,
        int polls,
        @Nullable Integer connections,
        @Nullable Duration p99) {

    static final String DENIED = "access denied";

    QueueObserver.Levels levels() {
        return new QueueObserver.Levels(
                queue.number(APPROXIMATE_NUMBER_OF_MESSAGES),
                queue.number(APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE),
                queue.number(APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED),
                deadLetters.number(APPROXIMATE_NUMBER_OF_MESSAGES));
    }
}
