package io.exactlyonce.test.kit;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimResolution;
import java.time.Duration;
import java.util.List;

/** A worker outside this process that holds a key. The worker does nothing by itself, and its lease lasts an hour. */
public final class OtherWorker {

    static final Duration LEASE = Duration.ofHours(1);

    /** The engine looks for ended waits four times a second. */
    private static final Duration UNTIL_NOTICED = Duration.ofSeconds(1);

    private final ExactlyOnceDriver driver;
    private final TestStore store;
    private final ClaimId claim;

    OtherWorker(ExactlyOnceDriver driver, TestStore store, ClaimId claim) {
        this.driver = driver;
        this.store = store;
        this.claim = claim;
    }

    /** Completes the key, as if the other worker's handler had succeeded. Waiting deliveries of the key are deleted. */
    public void complete() {
        store.claims().resolve(List.of(new ClaimResolution.Completed(claim, null)));
        driver.advance(UNTIL_NOTICED);
    }

    /**
     * Releases the key, as if the other worker's handler had failed. A waiting delivery of the key is redelivered at
     * once.
     */
    public void fail() {
        store.claims()
                .resolve(
                        List.of(new ClaimResolution.Released(claim, "the other worker's handler failed", false, true)));
        driver.advance(UNTIL_NOTICED);
    }

    /** Crashes the other worker. The key is then free and in doubt. */
    public void crash() {
        store.endLease(claim);
        driver.advance(UNTIL_NOTICED);
    }
}
