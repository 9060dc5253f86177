package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.StoredResults;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Records how handlers ended, before anything else happens to their deliveries: effects first, then failures. */
final class RecordStage {

    private final ClaimWriter writer;
    private final StoredResults results;

    RecordStage(ClaimWriter writer, StoredResults results) {
        this.writer = writer;
        this.results = results;
    }

    void record(Batch batch) {
        if (!batch.done().isEmpty()) {
            complete(batch);
        }
        fail(batch.failed());
    }

    /**
     * Claims that seem lost are completed, too: the store knows whether another worker has taken a key over, and if none
     * has, the effect is on record.
     */
    private void complete(Batch batch) {
        List<Attempt> done = batch.done();
        done.forEach(attempt -> attempt.delivery().renewal().completing());
        try {
            Set<ClaimId> completed = writer.complete(
                    done.stream().map(this::completion).toList(),
                    () -> done.stream().anyMatch(attempt -> !attempt.delivery().isAbandoned()));
            done.forEach(attempt -> judge(attempt, completed, batch));
        } catch (RuntimeException unanswered) {
            batch.addFailure(unanswered);
        } finally {
            done.forEach(attempt -> attempt.delivery().renewal().letGo());
        }
    }

    private ClaimEnd.Completed completion(Attempt attempt) {
        return new ClaimEnd.Completed(attempt.id(), json(attempt, attempt.result()));
    }

    /** The effect has happened, so a result that cannot be written must not leave the claim open. */
    @Nullable String json(Attempt attempt, @Nullable Object result) {
        return result == null ? null : results.writeIfPossible(attempt.spec().key(), result);
    }

    private static void judge(Attempt attempt, Set<ClaimId> completed, Batch batch) {
        if (completed.contains(attempt.id())) {
            attempt.recorded();
        } else {
            batch.addFailure(
                    attempt.lost("another worker took the key over before the handler ended; its result is discarded"));
        }
    }

    /** Parks keys or gives them up, and renews their leases no more before that. */
    private void fail(List<Attempt> failed) {
        List<ClaimEnd.Parked> parkings = new ArrayList<>();
        List<ClaimEnd.Released> releases = new ArrayList<>();
        for (Attempt attempt : failed) {
            attempt.delivery().step(DeliveryState.HANDLING, DeliveryState.FAILED);
            attempt.delivery().renewal().letGo();
            FailedAttempt failure = attempt.failure();
            if (failure == null) {
                continue;
            }
            if (failure.mustBeParked(attempt.spec().doubt())) {
                parkings.add(failure.parking());
            } else {
                releases.add(failure.release());
            }
        }
        writer.park(parkings);
        writer.release(releases);
    }
}
