package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.NanoClock;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The way of deliveries, from the poll until how they ended is on record. Every step takes a list: a message that comes alone is
 * a list of one, and a method that returns when its work is done is a future that has ended. No step waits for the store.
 *
 * <ol>
 *   <li>Begin: those of a stopped listener are left out; the rest comes again unless it is recorded.
 *   <li>Claim: all keys in one call ({@link ClaimStage}), before there are threads, or when there is one. What acquires no key
 *       waits, is deleted or comes again, and goes no further.
 *   <li>Admit: whose lease is over, or whose group has been stopped, is not handled ({@link GroupOrder}). Asked when the thread is
 *       there, and again when the method is called.
 *   <li>Handle: reconciler, then handler, once ({@link HandlerStage}).
 *   <li>Record: completions, then parkings and releases ({@link RecordStage}), behind the handler, whose thread does not wait
 *       for the store.
 * </ol>
 *
 * <p>What becomes of each is done when it has left its listener and how it ended is on record ({@link Deliveries#settle}).
 *
 * <p>Guaranteed: the handler is called once at most (in a transaction once more if it named deliveries that failed, or
 * lost its connection on a last receive: all that it wrote is rolled back by then), only with deliveries whose keys are claimed, in their order; a
 * delivery is acknowledged only after its claim's completion is recorded, by this delivery or an earlier one; each is
 * judged by its own claim, as if it had come alone. The claim is held until a handler's future has ended and that is on
 * record. A handler that must stop is interrupted, once, as long as its method has not returned; then its future is
 * cancelled, once. A future that ends by that alone says nothing about the work behind it, so that its claim is not
 * released, but left to the end of its lease.
 *
 * <p>Not guaranteed: that the effects of a handler whose process dies before its completion is recorded happen only
 * once; the next attempt is told by {@link io.exactlyonce.Claim#isAmbiguous()}.
 */
public final class DeliveryPipeline {

    private final ClaimWriter writer;
    private final ClaimStage claims;
    private final HandlerStage handlers;
    private final RecordStage records;
    private final TransactionalHandler transactions;
    private final RetryBackoff backoff;
    private final Jitter jitter;

    /**
     * @param writer claims keys, and ends claims
     * @param settings on what terms keys are claimed
     * @param backoff how long deliveries stay away that failed
     * @param results writes handlers' results
     * @param observer learns of claims and handlers
     * @param clock monotonic, in nanoseconds
     * @param jitter spreads the backoff
     * @param cancellations cancels futures of handlers, which may call the application's own code; must not make its caller wait
     */
    public DeliveryPipeline(
            ClaimWriter writer,
            ClaimSettings settings,
            RetryBackoff backoff,
            StoredResults results,
            DeliveryObserver observer,
            NanoClock clock,
            Jitter jitter,
            Executor cancellations) {
        this.writer = writer;
        this.claims = new ClaimStage(writer, settings, observer, clock);
        this.handlers = new HandlerStage(writer, cancellations, observer, clock);
        this.records = new RecordStage(writer, results, observer);
        this.transactions = new TransactionalHandler(writer, claims, handlers, records, observer);
        this.backoff = backoff;
        this.jitter = jitter;
    }

    /**
     * Claims the keys of deliveries that were just received, before there are threads for them.
     *
     * @return ends when their claims are answered; one on its last receive may still have to be claimed, when its thread is there
     */
    public CompletableFuture<Void> claimAhead(List<Attempt> attempts) {
        return claims.claimAhead(begin(attempts));
    }

    /** Claims the keys of deliveries that there is a thread for, unless they are claimed. */
    public CompletableFuture<Void> claim(List<Attempt> attempts) {
        return claims.claim(begin(attempts));
    }

    private List<Attempt> begin(List<Attempt> attempts) {
        return attempts.stream()
                .filter(attempt -> attempt.isBegun() || attempt.begin(retry(attempt.delivery())))
                .filter(Attempt::isToBeClaimed)
                .toList();
    }

    /**
     * Returns those that may be handled, as far as is known now: what their keys are held for, and what may not overtake another one.
     * The rest leaves, and gives its claims back.
     */
    public List<Attempt> admit(List<Attempt> attempts) {
        Batch batch = new Batch(attempts);
        List<Attempt> admitted = GroupOrder.admit(attempts, batch, writer);
        batch.logFailures();
        attempts.stream().filter(attempt -> !admitted.contains(attempt)).forEach(Attempt::leave);
        return admitted;
    }

    /** Gives back what was claimed, or was to be, and has not come to its handler. */
    public void withdraw(List<Attempt> attempts) {
        List<Attempt> unhandled = attempts.stream()
                .filter(attempt -> attempt.isUnhandled() || attempt.isToBeClaimed())
                .toList();
        if (!unhandled.isEmpty()) {
            GroupOrder.refuse(unhandled.stream().filter(Attempt::isUnhandled).toList(), writer);
            unhandled.forEach(Attempt::leave);
        }
    }

    /**
     * Handles deliveries of one subscription whose keys are held. How it ended is recorded behind the handler: {@link Delivery#left()}
     * tells when.
     *
     * @param attempts the deliveries, in their order
     * @return ends when the handler's work does: at once unless its future goes on. Then it has the handler's result if the delivery
     *     came alone, else {@code null}. Fails with what the handler threw, or with {@link io.exactlyonce.ClaimLostException} if a
     *     claim was lost before the handler was called; the rest of what went wrong is suppressed in it
     */
    public CompletableFuture<@Nullable Object> process(List<Attempt> attempts, Handler handler) {
        boolean isTransactional = attempts.stream().anyMatch(Attempt::isTransactional);
        if (isTransactional) {
            begin(attempts);
        }
        requireBegun(attempts);
        Batch batch = new Batch(attempts);
        CompletableFuture<Void> ended = handle(batch, isTransactional, handler);
        CompletableFuture<@Nullable Object> answered = new CompletableFuture<>();
        // On whatever thread ends the handler's future: to record makes no thread wait.
        var unused = ended.thenRun(() -> records.record(batch)).whenComplete((recorded, crash) -> {
            batch.leave();
            Throwable failure = crash == null ? batch.failure() : crash;
            if (failure == null) {
                answered.complete(attempts.size() == 1 ? attempts.get(0).result() : null);
            } else {
                answered.completeExceptionally(failure);
            }
        });
        return answered;
    }

    private CompletableFuture<Void> handle(Batch batch, boolean isTransactional, Handler handler) {
        boolean isHandled = false;
        try {
            CompletableFuture<Void> ended =
                    isTransactional ? transactions.handle(batch, handler) : handlers.handle(batch, handler);
            isHandled = true;
            return ended;
        } finally {
            if (!isHandled) {
                batch.leave();
            }
        }
    }

    private static void requireBegun(List<Attempt> attempts) {
        if (attempts.stream().noneMatch(Attempt::isBegun)) {
            throw new CancellationException("%s was not begun: its listener has stopped"
                    .formatted(
                            attempts.size() == 1
                                    ? attempts.get(0)
                                    : "A batch of %d messages".formatted(attempts.size())));
        }
    }

    private Disposition retry(Delivery delivery) {
        return new Disposition.Return(backoff.after(delivery.receiveCount(), jitter.next()));
    }
}
