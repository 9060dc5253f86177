package io.exactlyonce.visibility;

import io.exactlyonce.visibility.QueueVisibility.Change;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes a message visible again at a chosen time. */
final class MessageReturn {

    private static final Logger log = LoggerFactory.getLogger(MessageReturn.class);

    private MessageReturn() {}

    /**
     * @param delay rounded up to whole seconds
     * @param left until SQS's ceiling, beyond which it refuses
     */
    static CompletableFuture<Void> send(
            Subscription subscription, String receiptHandle, Duration delay, Duration left) {
        int seconds = (int) Math.min(delay.plusNanos(999_999_999).toSeconds(), Math.max(0, left.toSeconds()));
        return subscription
                .visibility()
                .change(List.of(new Change(receiptHandle, seconds)))
                .thenAccept(answers -> warnUnlessChanged(subscription, answers.get(receiptHandle)));
    }

    private static void warnUnlessChanged(Subscription subscription, QueueVisibility.@Nullable Result answer) {
        if (answer != QueueVisibility.Result.CHANGED) {
            log.warn("Returning a message of {}: {}; it will be visible when its window ends", subscription, answer);
        }
    }
}
