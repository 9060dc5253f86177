package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides what becomes of deliveries whose key is not to be handled: the only place that does. */
public final class OutcomePolicy {

    private static final Logger log = LoggerFactory.getLogger(OutcomePolicy.class);

    private static final Disposition DUPLICATE = new Disposition.Acknowledge();

    private final ClaimSettings settings;

    public OutcomePolicy(ClaimSettings settings) {
        this.settings = settings;
    }

    /**
     * Returns what becomes of a delivery whose claim was answered.
     *
     * @param retry what becomes of one that is to come again, also of one that acquired its key, unless it is recorded
     */
    public Disposition decide(Delivery delivery, ClaimRequest request, ClaimOutcome outcome, Disposition retry) {
        return outcome.match(
                acquired -> retry,
                completed -> duplicate(delivery, request.key()),
                mismatch -> mismatch(delivery, request, retry),
                held -> heldElsewhere(delivery, request, held),
                parked -> {
                    parked(delivery, request.key());
                    return retry;
                });
    }

    private static Disposition duplicate(Delivery delivery, ClaimKey key) {
        log.debug("{} is a duplicate: {} is completed", delivery, key);
        return DUPLICATE;
    }

    private Disposition mismatch(Delivery delivery, ClaimRequest request, Disposition retry) {
        if (settings.onMismatch() == MismatchPolicy.WARN) {
            log.warn(
                    "{} is taken for a duplicate: {} is completed, for another payload than {}",
                    delivery,
                    request.key(),
                    request.fingerprint());
            return DUPLICATE;
        }
        log.error(
                "{} is returned: {} is completed, for another payload than {}. Send each payload under a key of its"
                        + " own, or set exactly-once.claim.on-mismatch",
                delivery,
                request.key(),
                request.fingerprint());
        return retry;
    }

    /**
     * If it cannot wait, the holder's lease is the least delay, so that a dead holder's key can be taken over at the next
     * attempt, but no more than a window: the holder may end long before a long lease does.
     */
    private static Disposition heldElsewhere(Delivery delivery, ClaimRequest request, HeldElsewhere held) {
        Duration window = delivery.subscription().window().length();
        Duration lease = held.leaseRemaining().compareTo(window) > 0 ? window : held.leaseRemaining();
        log.debug("{} waits: {} is held elsewhere", delivery, request.key());
        return new Disposition.Wait(lease.isNegative() ? Duration.ZERO : lease);
    }

    /** Tells of a key that only a person can decide on. */
    public static void parked(Delivery delivery, ClaimKey key) {
        log.warn("{} is returned: {} is parked and waits for a person's decision", delivery, key);
    }
}
