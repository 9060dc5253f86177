package io.exactlyonce.renewal;

import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A message that is to be made visible again at a chosen time.
 *
 * @param window the message's window, which has been stopped
 * @param stopped completes when no renewal is under way, which would overwrite the new visibility
 * @param delay from the request on
 * @param ours whether the message was still invisible on our behalf when the window was stopped
 */
record MessageReturn(RenewedWindow window, CompletableFuture<Void> stopped, Duration delay, boolean ours) {

    private static final Logger log = LoggerFactory.getLogger(MessageReturn.class);

    /** Sends those together that no renewal delays, and the rest one by one as soon as their renewals are answered. */
    static CompletableFuture<Void> send(List<MessageReturn> returns) {
        Map<Subscription, List<Change>> ready = new HashMap<>();
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (MessageReturn each : returns) {
            Subscription subscription = each.window.subscription();
            if (each.stopped.isDone()) {
                each.change()
                        .ifPresent(change -> ready.computeIfAbsent(subscription, queue -> new ArrayList<>())
                                .add(change));
            } else {
                sent.add(each.stopped.thenCompose(
                        ignored -> send(subscription, each.change().stream().toList())));
            }
        }
        ready.forEach((subscription, changes) -> sent.add(send(subscription, changes)));
        return CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new));
    }

    private Optional<Change> change() {
        return window.exposure(delay, ours);
    }

    private static CompletableFuture<Void> send(Subscription subscription, List<Change> changes) {
        return changes.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : subscription
                        .visibility()
                        .change(changes)
                        .thenAccept(answers -> changes.forEach(
                                change -> warnUnlessChanged(subscription, answers.get(change.receiptHandle()))));
    }

    private static void warnUnlessChanged(Subscription subscription, QueueVisibility.@Nullable Result answer) {
        if (answer != QueueVisibility.Result.CHANGED) {
            log.warn(
                    "Returning a message of {} was answered with {}; it will be visible when its window ends",
                    subscription,
                    answer);
        }
    }
}
