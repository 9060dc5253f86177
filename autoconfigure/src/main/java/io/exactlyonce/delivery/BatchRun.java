package io.exactlyonce.delivery;

import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.delivery.ReconciledHandler.ParkRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One run of a batch's handler, on the thread that made this. All deliveries of the batch share it: what stops one of
 * them interrupts it, once. Keys that are in doubt are reconciled before, within the same run.
 */
final class BatchRun {

    private final BatchProcessor.Handler handler;
    private final BatchAdmission admission;
    private final BatchFailures failures;
    private final HandlerRun run = new HandlerRun();
    private final List<BatchMember> done = new ArrayList<>();
    private final List<BatchMember> failed = new ArrayList<>();

    BatchRun(BatchProcessor.Handler handler, BatchAdmission admission, BatchFailures failures) {
        this.handler = handler;
        this.admission = admission;
        this.failures = failures;
    }

    /** @param members at least one */
    void go(List<BatchMember> members, DeliveryObserver observer, LongSupplier clock) {
        long begun = clock.getAsLong();
        members.forEach(member -> member.delivery().enterHandler(run));
        try (run) {
            List<BatchMember> ready = reconcile(members);
            if (!ready.isEmpty()) {
                call(ready);
            }
        } finally {
            observer.handled(members.get(0).delivery().subscription(), Duration.ofNanos(clock.getAsLong() - begun));
        }
    }

    /** Returns those that the handler is to be called for. */
    private List<BatchMember> reconcile(List<BatchMember> members) {
        List<BatchMember> ready = new ArrayList<>();
        members.stream().filter(admission::admits).forEach(member -> reconcile(member, ready));
        return ready;
    }

    private void reconcile(BatchMember member, List<BatchMember> ready) {
        String listener = member.delivery().subscription().listener();
        DeliveryProcessor.Handler letThrough = claim -> {
            ready.add(member);
            return null;
        };
        try {
            ReconciledHandler.around(letThrough, member.handling(), listener).handle(member.claim());
            if (!ready.contains(member)) {
                done.add(member);
            }
        } catch (ParkRequest request) {
            Refusals.parked(member.delivery(), member.id().key());
            fail(member, request);
            admission.stopGroupOf(member);
        } catch (Throwable failure) {
            failures.add(failure);
            fail(member, failure);
            admission.stopGroupOf(member);
        }
    }

    private void call(List<BatchMember> ready) {
        try {
            handler.handle(ready.stream().map(BatchMember::claimed).toList());
            done.addAll(ready);
        } catch (Throwable thrown) {
            failures.addHandlers(thrown);
            judge(ready, thrown);
        }
    }

    private void judge(List<BatchMember> ready, Throwable thrown) {
        Map<Integer, Throwable> named = named(thrown, ready.size());
        for (int index = 0; index < ready.size(); index++) {
            Throwable failure = named == null ? thrown : named.get(index);
            if (failure == null) {
                done.add(ready.get(index));
            } else {
                fail(ready.get(index), failure);
            }
        }
    }

    /** Returns nothing if the exception fails all: it names nobody, or somebody who is not there. */
    private static @Nullable Map<Integer, Throwable> named(Throwable thrown, int size) {
        if (!(DoubtPolicy.unwrap(thrown) instanceof BatchItemFailures items)) {
            return null;
        }
        Map<Integer, Throwable> named = items.failures();
        boolean allThere = named.keySet().stream().allMatch(index -> index < size);
        return named.isEmpty() || !allThere ? null : named;
    }

    private void fail(BatchMember member, Throwable failure) {
        member.fail(failure);
        failed.add(member);
    }

    /** Returns those whose effect has happened. */
    List<BatchMember> done() {
        return done;
    }

    List<BatchMember> failed() {
        return failed;
    }

    /** Tells, once the run is over, whether the handler was stopped from outside. */
    boolean wasStopped() {
        return run.wasInterrupted();
    }
}
