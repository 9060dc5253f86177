package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.claim.Release;
import io.exactlyonce.delivery.BatchKeeper;
import io.exactlyonce.delivery.DeliveryState;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Records how a batch's run went, before anything else happens to its deliveries: effects first, then failures. */
final class BatchEnd {

    private final BatchKeeper keeper;
    private final BatchFailures failures;

    BatchEnd(BatchKeeper keeper, BatchFailures failures) {
        this.keeper = keeper;
        this.failures = failures;
    }

    void settle(BatchRun run) {
        if (!run.done().isEmpty()) {
            complete(run.done());
        }
        settleFailed(run.failed());
    }

    /** Also those are completed whose claims seem lost: the store knows whether anybody has taken a key over. */
    private void complete(List<BatchMember> done) {
        for (BatchMember member : done) {
            member.delivery().step(DeliveryState.HANDLING, DeliveryState.HANDLED);
            member.delivery().renewal().completing();
        }
        try {
            Set<ClaimId> completed = keeper.complete(
                    done.stream().map(BatchMember::id).toList(),
                    () -> done.stream().anyMatch(member -> !member.delivery().isAbandoned()));
            done.forEach(member -> judge(member, completed));
        } catch (RuntimeException unanswered) {
            failures.add(unanswered);
        } finally {
            done.forEach(member -> member.delivery().renewal().letGo());
        }
    }

    private void judge(BatchMember member, Set<ClaimId> completed) {
        if (completed.contains(member.id())) {
            member.delivery().step(DeliveryState.HANDLED, DeliveryState.RECORDED);
        } else {
            failures.add(member.lost("another worker took the key over before the handler ended"));
        }
    }

    private void settleFailed(List<BatchMember> failed) {
        List<Parking> parkings = new ArrayList<>();
        List<Release> releases = new ArrayList<>();
        for (BatchMember member : failed) {
            member.delivery().step(DeliveryState.HANDLING, DeliveryState.FAILED);
            member.delivery().renewal().letGo();
            FailedAttempt attempt = member.failedAttempt();
            if (attempt.mustBeParked(member.handling().doubt())) {
                parkings.add(attempt.parking());
            } else {
                releases.add(attempt.release());
            }
        }
        keeper.park(parkings);
        keeper.release(releases);
    }
}
