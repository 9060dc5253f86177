package io.exactlyonce.visibility;

import io.exactlyonce.visibility.QueueVisibility.Change;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A message that is to be made visible again at a chosen time.
 *
 * @param subscription to the message's queue
 * @param stopped completes when no renewal is under way, which would overwrite the new visibility
 * @param change what to ask the queue for then, if anything
 */
public record MessageReturn(
        Subscription subscription, CompletableFuture<Void> stopped, Supplier<Optional<Change>> change) {

    private static final Logger log = LoggerFactory.getLogger(MessageReturn.class);

    /** Sends all that nothing stands in the way of together, and the others one by one as soon as they can be sent. */
    public static CompletableFuture<Void> of(List<MessageReturn> returns) {
        Map<Subscription, List<Change>> ready = new HashMap<>();
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (MessageReturn each : returns) {
            if (each.stopped.isDone()) {
                each.change
                        .get()
                        .ifPresent(change -> ready.computeIfAbsent(each.subscription, subscription -> new ArrayList<>())
                                .add(change));
            } else {
                sent.add(each.stopped.thenCompose(ignored ->
                        send(each.subscription, each.change.get().stream().toList())));
            }
        }
        ready.forEach((subscription, changes) -> sent.add(send(subscription, changes)));
        return CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new));
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
            log.warn("Returning a message of {}: {}; it will be visible when its window ends", subscription, answer);
        }
    }
}
