package io.exactlyonce.test.contract;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.InDoubtSettings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A worker that receives one message and dies at one step of the delivery. The dead worker never calls the store. */
final class CrashingWorker {

    /** Time until a renewal is due: a tenth of the lease, the shortest that {@code RenewalSchedule} permits. */
    private static final Duration UNTIL_RENEWED = Claims.LEASE.dividedBy(10);

    private final EffectJournal journal;
    private final CrashStep point;
    private final DyingStore store;
    private final Worker worker;
    private @Nullable Claim learned;

    CrashingWorker(StoreUnderTest underTest, Way way, EffectJournal journal, CrashStep point) {
        this.journal = journal;
        this.point = point;
        this.store = new DyingStore(underTest, point);
        this.worker = new Worker(way, store);
    }

    /**
     * Delivers the message, and dies at the given step. Then expires the leases of the dead worker, because no other
     * worker can take the key over before the lease ends.
     *
     * @return whether the message was deleted; if not, the message is redelivered
     */
    boolean deliver(ClaimKey key, InDoubtSettings doubt) {
        Delivery delivery = worker.receive();
        try {
            worker.process(delivery, key, doubt, claim -> handle(key, claim));
            store.dieAt(CrashStep.BEFORE_ACKNOWLEDGE);
            return worker.settle(delivery);
        } catch (DyingStore.Death death) {
            store.endLeases();
            return false;
        } finally {
            if (store.hasCompleted()) {
                journal.completed(key);
            }
        }
    }

    /** Returns the claim that the handler received; {@code null} if the handler was not called. */
    @Nullable Claim learned() {
        return learned;
    }

    private Object handle(ClaimKey key, Claim claim) {
        learned = claim;
        try (var running = journal.running(key)) {
            journal.acquired(key, new Acquired(claim.attempt(), claim.fencingToken(), claim.isInDoubt()));
            store.dieAt(CrashStep.BEFORE_EFFECT);
            if (point.handlerFails()) {
                throw new Worker.HandlerFailure();
            }
            claim.ensureHeld();
            running.effect();
            store.dieAt(CrashStep.AFTER_EFFECT);
            // If another worker's peek locks the row, the store does not answer the first renewal. The engine repeats
            // the renewal later, so the loop waits up to five times.
            for (int tenths = 0; tenths < 5 && !store.hasRenewed(); tenths++) {
                worker.pass(UNTIL_RENEWED);
            }
            journal.require(store.hasRenewed(), "renewed", key);
        }
        return 1;
    }
}
