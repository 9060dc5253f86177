package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.Disposition;
import java.util.UUID;

/** A delivery that waits for the holder of its key, or for a store that does not answer. */
final class WaitingDelivery {

    private final Delivery delivery;
    private final Disposition.Await awaited;
    private volatile boolean sawOutage;
    private volatile boolean proved;

    WaitingDelivery(Delivery delivery, Disposition.Await awaited) {
        this.delivery = delivery;
        this.awaited = awaited;
    }

    Delivery delivery() {
        return delivery;
    }

    ClaimKey key() {
        return awaited.request().key();
    }

    /** Returns whether its payload is to be compared with the one that its key is completed for. */
    boolean comparesPayloads() {
        return awaited.request().fingerprint() != null;
    }

    /** Returns a new request for the key on the same terms: the earlier one has had its answer, or got none. */
    ClaimRequest newRequest() {
        ClaimRequest asked = awaited.request();
        return new ClaimRequest(
                asked.key(), UUID.randomUUID(), asked.owner(), asked.lease(), asked.inDoubt(), asked.fingerprint());
    }

    ClaimRequest request() {
        return awaited.request();
    }

    /** A probe that began after this wait was answered, on the way on which this delivery's claim got no answer. */
    void proved() {
        proved = true;
    }

    /** Returns whether its next claim can be expected to be answered: the last one was, or a probe after it. */
    boolean isProved() {
        return proved || !awaited.unanswered();
    }

    /** The store has not answered further claims or looks either. */
    void sawOutage() {
        sawOutage = true;
    }

    /**
     * Returns whether its claim may fail again at once: it got no answer, while other claims did. Such a delivery comes
     * again with backoff.
     */
    boolean mayFailAgain() {
        return awaited.unanswered() && !sawOutage;
    }
}
