package io.exactlyonce.listener.acknowledgement;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes that the queue has not answered yet, which a stop waits for: the client is closed behind it. */
final class UnconfirmedDeletes {

    private static final Logger log = LoggerFactory.getLogger(UnconfirmedDeletes.class);

    private final Set<CompletableFuture<?>> sent = ConcurrentHashMap.newKeySet();

    /**
     * Counts a request until it has ended.
     *
     * @param answered ends with the answer, and completes normally also where that is a failure
     */
    @SuppressWarnings("CollectionUndefinedEquality") // identity is meant
    void add(CompletableFuture<Void> answered) {
        sent.add(answered);
        var unused = answered.whenComplete((done, failure) -> sent.remove(answered));
    }

    /** Returns whether all that was sent has been answered. */
    boolean await(Duration patience, String id) {
        CompletableFuture<?>[] awaited = sent.toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(awaited).get(patience.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException unanswered) {
            log.warn(
                    "{} deletes of '{}' are unanswered after {}; their messages may come again, as duplicates",
                    sent.size(),
                    id,
                    patience);
        } catch (ExecutionException unexpected) {
            throw new IllegalStateException("A future that only says that there was an answer has failed", unexpected);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
        return false;
    }
}
