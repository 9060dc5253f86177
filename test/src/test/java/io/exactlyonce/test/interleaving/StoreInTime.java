package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import java.time.Duration;

/** A store, and a way to advance its time. */
interface StoreInTime {

    ClaimStore store();

    /** The parked claims of the store. */
    ParkedClaims parked();

    /** Lets time pass at once, at least for the keys of a scope. */
    void pass(String scope, Duration time);
}
