package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.delivery.BatchKeeper;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.HandlerRun;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.pipeline.ReconcilingHandler.ParkRequest;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One run of a batch's handler, on the thread that made this. All deliveries of the batch share it: what stops one of
 * them interrupts it, once. Keys that are in doubt are reconciled before, each in a run of its own, so that what stops
 * another delivery meanwhile keeps that one from the handler only. The listener's timeout is one for all of it.
 */
final class BatchRun {

    private final BatchProcessor.Handler handler;
    private final BatchKeeper keeper;
    private final BatchFailures failures;
    private final List<BatchMember> done = new ArrayList<>();
    private final List<BatchMember> failed = new ArrayList<>();

    BatchRun(BatchProcessor.Handler handler, BatchKeeper keeper, BatchFailures failures) {
        this.handler = handler;
        this.keeper = keeper;
        this.failures = failures;
    }

    /** @param members at least one */
    void go(List<BatchMember> members, DeliveryObserver observer, NanoClock clock) {
        long begun = clock.nanoTime();
        members.forEach(member -> member.delivery().limitHandler());
        try {
            List<BatchMember> ready = BatchAdmission.admit(reconcile(members), keeper, failures);
            if (!ready.isEmpty()) {
                call(ready);
            }
        } finally {
            members.forEach(member -> member.delivery().leaveHandler());
            observer.handled(members.get(0).delivery().subscription(), Duration.ofNanos(clock.nanoTime() - begun));
        }
    }

    /** Returns those that the handler is to be called for, if they are admitted again: this may have taken long. */
    private List<BatchMember> reconcile(List<BatchMember> members) {
        BatchAdmission admission = new BatchAdmission(failures);
        List<BatchMember> ready = new ArrayList<>();
        members.stream().filter(admission::admits).forEach(member -> reconcile(member, ready, admission));
        keeper.release(admission.givenBack());
        return ready;
    }

    private void reconcile(BatchMember member, List<BatchMember> ready, BatchAdmission admission) {
        if (!member.claim().isAmbiguous() || member.handling().doubt().reconciler() == null) {
            ready.add(member);
            return;
        }
        HandlerRun run = member.delivery().enterHandler(new HandlerRun());
        try (run) {
            ask(member, ready);
        } catch (ParkRequest request) {
            OutcomePolicy.parked(member.delivery(), member.id().key());
            fail(member, request, run);
            admission.stopGroupOf(member);
        } catch (Throwable failure) {
            failures.add(failure);
            fail(member, failure, run);
            admission.stopGroupOf(member);
        }
        if (!ready.contains(member)) {
            member.delivery().leaveHandler();
        }
    }

    private void ask(BatchMember member, List<BatchMember> ready) throws Throwable {
        DeliveryProcessor.Handler letThrough = claim -> {
            ready.add(member);
            return null;
        };
        String listener = member.delivery().subscription().listener();
        ReconcilingHandler.around(letThrough, member.handling(), listener, () -> true)
                .handle(member.claim());
        if (!ready.contains(member)) {
            done.add(member);
        }
    }

    private void call(List<BatchMember> ready) {
        HandlerRun run = new HandlerRun();
        ready.forEach(member -> member.delivery().enterHandler(run));
        try (run) {
            handler.handle(ready.stream().map(BatchMember::claimed).toList());
            done.addAll(ready);
        } catch (Throwable thrown) {
            failures.addHandlers(thrown);
            judge(ready, thrown, run);
        }
    }

    private void judge(List<BatchMember> ready, Throwable thrown, HandlerRun run) {
        Map<Integer, Throwable> named = named(thrown, ready.size());
        for (int index = 0; index < ready.size(); index++) {
            Throwable failure = named == null ? thrown : named.get(index);
            if (failure == null) {
                done.add(ready.get(index));
            } else {
                fail(ready.get(index), failure, run);
            }
        }
    }

    /** Returns nothing if the exception fails all: it names nobody, or somebody who is not there. */
    private static @Nullable Map<Integer, Throwable> named(Throwable thrown, int size) {
        if (!(InDoubtPolicy.unwrap(thrown) instanceof BatchItemFailures items)) {
            return null;
        }
        Map<Integer, Throwable> named = items.failures();
        boolean allThere = named.keySet().stream().allMatch(index -> index < size);
        return named.isEmpty() || !allThere ? null : named;
    }

    private void fail(BatchMember member, Throwable failure, HandlerRun run) {
        member.fail(failure, run);
        failed.add(member);
    }

    /** Returns those whose effect has happened. */
    List<BatchMember> done() {
        return done;
    }

    List<BatchMember> failed() {
        return failed;
    }
}
