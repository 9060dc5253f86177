package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;

/** A delivery that waits for somebody else: the holder of its key, or a store that does not answer. */
final class Waiter {

    private final Delivery delivery;
    private final Disposition.Awaited awaited;
    private volatile boolean sawOutage;

    Waiter(Delivery delivery, Disposition.Awaited awaited) {
        this.delivery = delivery;
        this.awaited = awaited;
    }

    Delivery delivery() {
        return delivery;
    }

    ClaimKey key() {
        return awaited.key();
    }

    /** The store has not answered others either. */
    void sawOutage() {
        sawOutage = true;
    }

    /**
     * Tells whether its claim may fail again at once: it got no answer, while others did. Such a delivery comes again with
     * backoff.
     */
    boolean mayFailAgain() {
        return awaited.unanswered() && !sawOutage;
    }
}
