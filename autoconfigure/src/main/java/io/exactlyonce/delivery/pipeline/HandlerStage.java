package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver.HandlerCall;
import io.exactlyonce.delivery.DeliveryObserver.HandlerScope;
import io.exactlyonce.delivery.HandlerRun;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls handlers, each once at most, with the deliveries whose keys are held, and notes how it went with each of them.
 *
 * <ol>
 *   <li>Deliveries are admitted.
 *   <li>The listener's timeout begins, one for all that follows.
 *   <li>Keys that are in doubt are reconciled. Where one was, deliveries are admitted again, since that may have taken long.
 *   <li>The handler is called. All its deliveries share the run: what stops one of them interrupts it, once, or cancels the
 *       future that it returned.
 *   <li>When the handler's work has ended, the timeout does; work that may go on is renewed no more.
 * </ol>
 */
final class HandlerStage {

    private static final Logger log = LoggerFactory.getLogger(HandlerStage.class);

    private final ClaimWriter writer;
    private final Executor cancellations;
    private final DeliveryObserver observer;
    private final NanoClock clock;

    HandlerStage(ClaimWriter writer, Executor cancellations, DeliveryObserver observer, NanoClock clock) {
        this.writer = writer;
        this.cancellations = cancellations;
        this.observer = observer;
        this.clock = clock;
    }

    /**
     * Calls the handler, unless none of its deliveries is admitted.
     *
     * @return completes when the handler's work has ended; what it fails with is noted
     */
    CompletableFuture<Void> handle(Batch batch, Handler handler) {
        List<Attempt> admitted = GroupOrder.admit(batch.attempts(), batch, writer);
        admitted.forEach(attempt -> attempt.delivery().limitHandler());
        List<Attempt> ready = admitted.stream().anyMatch(Attempt::isToBeReconciled)
                ? GroupOrder.admit(new ReconcileStep(batch, writer).reconcile(admitted), batch, writer)
                : admitted;
        GroupOrder order = new GroupOrder(batch);
        List<Attempt> entered = ready.stream().filter(order::enters).toList();
        order.giveBack(writer);
        return entered.isEmpty() ? CompletableFuture.completedFuture(null) : call(batch, entered, handler);
    }

    /**
     * Calls a handler whose claims are held otherwise, by a transaction; returns its result.
     *
     * @throws HandlerFailure if the handler failed, so that the transaction is rolled back
     */
    @Nullable Object callWithin(List<Attempt> attempts, HandlerRun run, Handler handler) throws HandlerFailure {
        HandlerScope scope = observer.handling(calls(attempts));
        long begun = clock.nanoTime();
        Throwable thrown = null;
        try (run) {
            return handler.handle(attempts).toCompletableFuture().join();
        } catch (Throwable failure) {
            thrown = failure;
            throw new HandlerFailure(failure);
        } finally {
            scope.leave();
            end(attempts, scope, thrown, begun);
            attempts.forEach(attempt -> attempt.delivery().leaveHandler());
        }
    }

    private CompletableFuture<Void> call(Batch batch, List<Attempt> ready, Handler handler) {
        HandlerRun run = new HandlerRun();
        ready.forEach(attempt -> attempt.delivery().enterHandler(run));
        HandlerScope scope = observer.handling(calls(ready));
        long begun = clock.nanoTime();
        CompletionStage<?> returned;
        try (run) {
            returned = handler.handle(ready);
        } catch (Throwable thrown) {
            scope.leave();
            end(ready, scope, thrown, begun);
            judge(batch, ready, thrown, run.wasStopped());
            return CompletableFuture.completedFuture(null);
        }
        scope.leave();
        // A stage that becomes no future is a crash, and no failure of the handler's: its work goes on.
        return run.goOn(returned.toCompletableFuture(), cancellations, (result, failure) -> {
            end(ready, scope, failure, begun);
            if (failure == null) {
                done(batch, ready, result);
            } else if (run.mayGoOn(failure)) {
                leaveToLease(batch, ready, failure);
            } else {
                judge(batch, ready, failure, run.wasStopped());
            }
        });
    }

    private void end(List<Attempt> called, HandlerScope scope, @Nullable Throwable failure, long begun) {
        scope.end(failure);
        observer.handled(called.get(0).delivery().subscription(), Duration.ofNanos(clock.nanoTime() - begun));
    }

    private static List<HandlerCall> calls(List<Attempt> attempts) {
        return attempts.stream()
                .map(attempt -> new HandlerCall(
                        attempt.delivery(), attempt.id(), attempt.claim().attempt()))
                .toList();
    }

    private static void done(Batch batch, List<Attempt> ready, @Nullable Object result) {
        for (Attempt attempt : ready) {
            // No timeout counts while the outcome waits for a thread.
            attempt.delivery().leaveHandler();
            attempt.done(result);
            batch.done().add(attempt);
        }
    }

    private static void leaveToLease(Batch batch, List<Attempt> ready, Throwable cancelled) {
        batch.addHandlersFailure(cancelled);
        for (Attempt attempt : ready) {
            log.warn(
                    "{}: its handler's future was cancelled, which does not tell whether its work has stopped; {}"
                            + " can be claimed again when its lease ends",
                    attempt.delivery(),
                    attempt.id().key());
            batch.failed().add(attempt);
        }
    }

    private static void judge(Batch batch, List<Attempt> ready, Throwable thrown, boolean stopped) {
        batch.addHandlersFailure(thrown);
        Map<Integer, Throwable> named = named(thrown, ready.size());
        for (int index = 0; index < ready.size(); index++) {
            Attempt attempt = ready.get(index);
            attempt.delivery().leaveHandler();
            Throwable failure = named.isEmpty() ? thrown : named.get(index);
            if (failure == null) {
                attempt.done(null);
                batch.done().add(attempt);
            } else {
                attempt.fail(failure, stopped);
                batch.failed().add(attempt);
            }
        }
    }

    /** Returns what failed with which delivery; nothing if the exception fails all: it names none, or one that is not there. */
    static Map<Integer, Throwable> named(Throwable thrown, int size) {
        if (!(InDoubtPolicy.unwrap(thrown) instanceof BatchItemFailures items)) {
            return Map.of();
        }
        Map<Integer, Throwable> named = items.failures();
        boolean allThere = named.keySet().stream().allMatch(index -> index < size);
        return allThere ? named : Map.of();
    }

    /** What a handler threw within a transaction, which is rolled back. */
    static final class HandlerFailure extends Exception {
        HandlerFailure(Throwable thrown) {
            super("The handler failed", thrown, false, false);
        }

        Throwable thrown() {
            return Objects.requireNonNull(getCause());
        }
    }
}
