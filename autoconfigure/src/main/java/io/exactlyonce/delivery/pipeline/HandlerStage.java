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
 *   <li>When the handler's work has ended, the timeout does.
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
     * @return completes when the handler's work has ended, and never with a failure: those are noted
     */
    CompletableFuture<Void> handle(Batch batch, Handler handler) {
        CompletableFuture<Void> ended = CompletableFuture.completedFuture(null);
        List<Attempt> admitted = GroupOrder.admit(batch.attempts(), batch, writer);
        if (admitted.isEmpty()) {
            return ended;
        }
        long begun = clock.nanoTime();
        admitted.forEach(attempt -> attempt.delivery().limitHandler());
        try {
            List<Attempt> ready = admitted.stream().anyMatch(Attempt::isToBeReconciled)
                    ? GroupOrder.admit(new ReconcileStep(batch, writer).reconcile(admitted), batch, writer)
                    : admitted;
            GroupOrder order = new GroupOrder(batch);
            List<Attempt> entered = ready.stream().filter(order::enters).toList();
            order.giveBack(writer);
            if (!entered.isEmpty()) {
                ended = call(batch, entered, handler);
            }
        } catch (Throwable failure) {
            // What has happened until now is recorded.
            batch.addFailure(failure);
        } finally {
            if (ended.isDone()) {
                end(batch, admitted, begun);
            } else {
                ended = ended.whenComplete((done, never) -> end(batch, admitted, begun));
            }
        }
        return ended;
    }

    /** Calls a handler whose claims are held otherwise, by a transaction; returns its result. */
    @Nullable Object callWithin(List<Attempt> attempts, HandlerRun run, Handler handler) throws Throwable {
        long begun = clock.nanoTime();
        HandlerScope scope = HandlerScope.NONE;
        Throwable thrown = null;
        try (run) {
            scope = observer.handling(calls(attempts));
            return handler.handle(attempts).toCompletableFuture().join();
        } catch (Throwable failure) {
            thrown = failure;
            throw failure;
        } finally {
            scope.leave();
            scope.end(thrown);
            attempts.forEach(attempt -> attempt.delivery().leaveHandler());
            observer.handled(attempts.get(0).delivery().subscription(), Duration.ofNanos(clock.nanoTime() - begun));
        }
    }

    /** No timeout counts while the outcome waits for a thread; but work that may go on is renewed no more. */
    private void end(Batch batch, List<Attempt> admitted, long begun) {
        admitted.stream()
                .filter(attempt -> !batch.failed().contains(attempt) || attempt.failure() != null)
                .forEach(attempt -> attempt.delivery().leaveHandler());
        try {
            observer.handled(admitted.get(0).delivery().subscription(), Duration.ofNanos(clock.nanoTime() - begun));
        } catch (Throwable failure) {
            batch.addFailure(failure);
        }
    }

    private CompletableFuture<Void> call(Batch batch, List<Attempt> ready, Handler handler) {
        HandlerRun run = new HandlerRun();
        ready.forEach(attempt -> attempt.delivery().enterHandler(run));
        HandlerScope scope = begin(ready, run);
        CompletionStage<?> work;
        try (run) {
            work = handler.handle(ready);
        } catch (Throwable thrown) {
            tell(batch, scope::leave);
            tell(batch, () -> scope.end(thrown));
            judge(batch, ready, thrown, run.wasStopped());
            return CompletableFuture.completedFuture(null);
        }
        tell(batch, scope::leave);
        CompletableFuture<Void> ended = new CompletableFuture<>();
        // What fails here is no failure of the handler's: it has returned, and its work may go on.
        run.goOn(HandlerRun.future(work), cancellations, (result, failure) -> {
            try {
                tell(batch, () -> scope.end(failure));
                if (failure == null) {
                    done(batch, ready, result);
                } else if (run.mayGoOn(failure)) {
                    leaveToLease(batch, ready, failure);
                } else {
                    judge(batch, ready, failure, run.wasStopped());
                }
            } catch (Throwable unjudged) {
                batch.addFailure(unjudged);
            } finally {
                ended.complete(null);
            }
        });
        return ended;
    }

    /** The claims are let go whatever is thrown here: the handler is not called then. */
    private HandlerScope begin(List<Attempt> ready, HandlerRun run) {
        try {
            return observer.handling(calls(ready));
        } catch (Throwable failure) {
            run.close();
            GroupOrder.refuse(ready, writer);
            throw failure;
        }
    }

    private static List<HandlerCall> calls(List<Attempt> attempts) {
        return attempts.stream()
                .map(attempt -> new HandlerCall(
                        attempt.delivery(), attempt.id(), attempt.claim().attempt()))
                .toList();
    }

    /** What is thrown here changes nothing of how the handler ended. */
    private static void tell(Batch batch, Runnable telling) {
        try {
            telling.run();
        } catch (Throwable failure) {
            batch.addFailure(failure);
        }
    }

    private static void done(Batch batch, List<Attempt> ready, @Nullable Object result) {
        for (Attempt attempt : ready) {
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
}
