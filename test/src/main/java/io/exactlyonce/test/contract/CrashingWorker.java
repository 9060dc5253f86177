package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;

/** Works on deliveries as a listener does, and dies at one point: from there on it calls the store no more. */
final class CrashingWorker {

    private final StoreUnderTest underTest;
    private final EffectJournal journal;
    private final CrashPoint point;

    CrashingWorker(StoreUnderTest underTest, EffectJournal journal, CrashPoint point) {
        this.underTest = underTest;
        this.journal = journal;
        this.point = point;
    }

    /** Ends with the lease of a worker that died: nobody can take its key over before. */
    void deliver(ClaimRequest request) {
        if (point == CrashPoint.BEFORE_CLAIM) {
            return;
        }
        if (Claims.claim(underTest.store(), request) instanceof Acquired acquired) {
            journal.acquired(request.key(), acquired);
            handle(request);
            underTest.endLease(request.id());
        }
    }

    private void handle(ClaimRequest request) {
        ClaimKey key = request.key();
        try (var running = journal.running(key)) {
            if (point == CrashPoint.AFTER_CLAIM) {
                return;
            }
            running.effect();
            if (point == CrashPoint.AFTER_EFFECT) {
                return;
            }
            journal.require(Claims.renew(underTest.store(), request), "renewed", key);
            if (point == CrashPoint.BEFORE_COMPLETION) {
                return;
            }
        }
        journal.require(Claims.complete(underTest.store(), request, "1"), "completed", key);
        journal.completed(key);
    }
}
