package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.StoreCalls;
import io.exactlyonce.delivery.StoredResults;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records how handlers ended, before anything else happens to their deliveries: effects first, then failures. */
final class RecordStage {

    private static final Logger log = LoggerFactory.getLogger(RecordStage.class);

    private final ClaimWriter writer;
    private final StoredResults results;
    private final DeliveryObserver observer;

    RecordStage(ClaimWriter writer, StoredResults results, DeliveryObserver observer) {
        this.writer = writer;
        this.results = results;
        this.observer = observer;
    }

    /** No step of it waits: each attempt learns when its end is written. */
    void record(Batch batch) {
        if (!batch.done().isEmpty()) {
            complete(batch.done());
        }
        if (!batch.failed().isEmpty()) {
            fail(batch.failed());
        }
    }

    /**
     * Claims that seem lost are completed, too: the store knows whether another worker has taken a key over, and if none
     * has, the effect is on record.
     */
    private void complete(List<Attempt> done) {
        done.forEach(attempt -> attempt.delivery().renewal().completing());
        CompletableFuture<Void> written = writer.complete(
                        done.stream().map(this::completion).toList(),
                        () -> done.stream()
                                .anyMatch(attempt -> !attempt.delivery().isAbandoned()))
                .handle((completed, unanswered) -> {
                    done.forEach(attempt -> judge(attempt, completed, unanswered));
                    return null;
                });
        done.forEach(attempt -> attempt.endsWith(written));
    }

    private ClaimEnd.Completed completion(Attempt attempt) {
        return new ClaimEnd.Completed(attempt.id(), json(attempt, attempt.result()));
    }

    /** The effect has happened, so a result that cannot be written must not leave the claim open. */
    @Nullable String json(Attempt attempt, @Nullable Object result) {
        return result == null ? null : results.writeIfPossible(attempt.spec().key(), result);
    }

    private void judge(Attempt attempt, @Nullable Set<ClaimId> completed, @Nullable Throwable unanswered) {
        Delivery delivery = attempt.delivery();
        delivery.renewal().letGo();
        if (completed == null) {
            log.error(
                    "{} is neither deleted nor returned: that its handler has succeeded could not be recorded before its"
                            + " listener stopped, so that {} is in doubt when its lease ends: {}",
                    delivery,
                    attempt.id().key(),
                    unanswered == null ? "" : StoreCalls.why(unanswered));
        } else if (completed.contains(attempt.id())) {
            attempt.recorded();
        } else {
            log.error(
                    "{} is neither deleted nor returned: its handler has succeeded, but another worker took {} over before"
                            + " that was recorded; its result is discarded",
                    delivery,
                    attempt.id().key());
            observer.completionLost(delivery.subscription());
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
        CompletableFuture<Void> parked = writer.park(parkings).thenAccept(ids -> tellParked(failed, ids));
        CompletableFuture<Void> released = writer.release(releases);
        failed.forEach(attempt -> attempt.endsWith(CompletableFuture.allOf(parked, released)));
    }

    private void tellParked(List<Attempt> failed, Set<ClaimId> parked) {
        failed.stream()
                .filter(attempt -> parked.contains(attempt.id()))
                .forEach(attempt -> observer.parked(
                        attempt.delivery().subscription(), attempt.id().key()));
    }
}
