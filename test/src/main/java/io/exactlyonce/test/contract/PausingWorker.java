package io.exactlyonce.test.contract;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.InDoubtSettings;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A worker whose handler pauses for longer than its lease, until the handlers of all other workers have started. */
final class PausingWorker {

    private final EffectJournal journal;
    private final CountDownLatch running;
    private final DyingStore store;
    private final Worker worker;
    private boolean handled;

    PausingWorker(StoreUnderTest underTest, Way way, EffectJournal journal, CountDownLatch running) {
        this.journal = journal;
        this.running = running;
        this.store = new DyingStore(underTest, CrashStep.NEVER);
        this.worker = new Worker(way, store);
    }

    /** Redelivers the message until the handler has run. Returns whether the last delivery deleted the message. */
    boolean deliver(ClaimKey key) {
        boolean deleted = false;
        while (!handled && !Thread.currentThread().isInterrupted()) {
            Delivery delivery = worker.receive();
            worker.process(delivery, key, InDoubtSettings.RERUN, claim -> handle(key, claim));
            deleted = worker.settle(delivery);
        }
        if (store.hasCompleted()) {
            journal.completed(key);
        }
        return deleted;
    }

    private Object handle(ClaimKey key, Claim claim) throws InterruptedException {
        handled = true;
        journal.acquired(key, new Acquired(claim.attempt(), claim.fencingToken(), claim.isInDoubt()));
        store.endLeases();
        running.countDown();
        journal.require(running.await(30, TimeUnit.SECONDS), "run by all of its workers at once", key);
        return 1;
    }
}
