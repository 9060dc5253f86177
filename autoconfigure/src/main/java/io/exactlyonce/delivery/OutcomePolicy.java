package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides what becomes of deliveries whose key is not to be handled. */
public final class OutcomePolicy {

    private static final Logger log = LoggerFactory.getLogger(OutcomePolicy.class);

    private final ClaimSettings terms;

    public OutcomePolicy(ClaimSettings terms) {
        this.terms = terms;
    }

    /** Returns the claim if the key was acquired; otherwise {@code null}, and the delivery's end is decided on. */
    public @Nullable Acquired decide(Delivery delivery, ClaimRequest request, ClaimOutcome outcome) {
        ClaimKey key = request.key();
        return outcome.match(
                mine -> mine,
                completed -> duplicate(delivery, key),
                mismatch -> mismatch(delivery, request),
                held -> heldElsewhere(delivery, request, held),
                parked -> parked(delivery, key));
    }

    private static @Nullable Acquired duplicate(Delivery delivery, ClaimKey key) {
        log.debug("{} is a duplicate: {} is completed", delivery, key);
        delivery.decide(Disposition.ACKNOWLEDGE);
        return null;
    }

    private @Nullable Acquired mismatch(Delivery delivery, ClaimRequest request) {
        if (terms.onMismatch() == MismatchPolicy.WARN) {
            log.warn(
                    "{} is taken for a duplicate: {} is completed, for another payload than {}",
                    delivery,
                    request.key(),
                    request.fingerprint());
            delivery.decide(Disposition.ACKNOWLEDGE);
        } else {
            log.error(
                    "{} is returned: {} is completed, for another payload than {}. Send each payload under a key of its"
                            + " own, or set exactly-once.claim.on-mismatch",
                    delivery,
                    request.key(),
                    request.fingerprint());
        }
        return null;
    }

    /**
     * If it cannot wait, the holder's lease is the least delay, so that a dead holder's key can be taken over at the next
     * attempt, but no more than a window: the holder may end long before a long lease does.
     */
    private static @Nullable Acquired heldElsewhere(Delivery delivery, ClaimRequest request, HeldElsewhere held) {
        Duration window = delivery.subscription().window().length();
        Duration lease = held.leaseRemaining().compareTo(window) > 0 ? window : held.leaseRemaining();
        log.debug("{} waits: {} is held elsewhere", delivery, request.key());
        delivery.decide(Disposition.waitForHolder(request, lease.isNegative() ? Duration.ZERO : lease));
        return null;
    }

    public static @Nullable Acquired parked(Delivery delivery, ClaimKey key) {
        log.warn("{} is returned: {} is parked and waits for a person's decision", delivery, key);
        return null;
    }
}
