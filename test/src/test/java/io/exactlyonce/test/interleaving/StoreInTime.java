package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimStore;
import java.time.Duration;

/** A store, and a way to let its time pass. */
interface StoreInTime {

    ClaimStore store();

    /** Lets time pass at once, at least for the keys of a scope. */
    void pass(String scope, Duration time);
}
