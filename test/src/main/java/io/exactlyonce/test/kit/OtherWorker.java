package io.exactlyonce.test.kit;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimResolution;
import java.time.Duration;
import java.util.List;

/** A worker elsewhere that holds a key. It does nothing by itself, and its lease is an hour. */
public final class OtherWorker {

    static final Duration LEASE = Duration.ofHours(1);

    /** The engine checks for finished waits four times a second. */
    private static final Duration UNTIL_NOTICED = Duration.ofSeconds(1);

    private final ExactlyOnceDriver driver;
    private final TestStore store;
    private final ClaimId claim;

    OtherWorker(ExactlyOnceDriver driver, TestStore store, ClaimId claim) {
        this.driver = driver;
        this.store = store;
        this.claim = claim;
    }

    /** Has its handler succeed: the key is completed, and deliveries that wait for it are deleted. */
    public void complete() {
        store.claims().resolve(List.of(new ClaimResolution.Completed(claim, null)));
        driver.advance(UNTIL_NOTICED);
    }

    /** Has its handler fail: the key is free, and a delivery that waits for it is redelivered at once. */
    public void fail() {
        store.claims()
                .resolve(List.of(
                        new ClaimResolution.Released(claim, "the other worker's handler has failed", false, true)));
        driver.advance(UNTIL_NOTICED);
    }

    /** Has it crash: the key is free, and in doubt. */
    public void crash() {
        store.endLease(claim);
        driver.advance(UNTIL_NOTICED);
    }
}
