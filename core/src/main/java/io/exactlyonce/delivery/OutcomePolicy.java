package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import java.time.Duration;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what becomes of deliveries whose key is not to be handled: the only place that does.
 *
 * @param terms say what becomes of one whose key is completed for another payload
 * @param backoff how long one stays away that comes again
 * @param own the policies of listeners that have their own settings, by the listener's id
 */
public record OutcomePolicy(ClaimSettings terms, RetryBackoff backoff, Map<String, OutcomePolicy> own) {

    private static final Logger log = LoggerFactory.getLogger(OutcomePolicy.class);

    private static final Disposition DUPLICATE = new Disposition.Acknowledge();

    /** The same for all listeners. */
    public OutcomePolicy(ClaimSettings terms, RetryBackoff backoff) {
        this(terms, backoff, Map.of());
    }

    /** Returns the policy of a listener. */
    public OutcomePolicy of(String listener) {
        return own.getOrDefault(listener, this);
    }

    /** Returns the policy of a delivery's listener. */
    public OutcomePolicy of(Delivery delivery) {
        return of(delivery.subscription().listener());
    }

    /** Returns what becomes of a delivery whose claim was answered; of one that acquired its key, unless it is recorded. */
    public Disposition decide(Delivery delivery, ClaimOutcome outcome) {
        return outcome.match(
                acquired -> retry(delivery),
                completed -> duplicate(delivery),
                mismatch -> of(delivery).mismatch(delivery),
                held -> heldElsewhere(delivery, held),
                parked -> {
                    parked(delivery);
                    return retry(delivery);
                });
    }

    private Disposition retry(Delivery delivery) {
        return new Disposition.Return(of(delivery).backoff.after(delivery));
    }

    private static Disposition duplicate(Delivery delivery) {
        log.debug("{} is a duplicate: {} is completed", delivery, delivery.spec());
        return DUPLICATE;
    }

    private Disposition mismatch(Delivery delivery) {
        ClaimSpec spec = delivery.spec();
        if (terms.onMismatch() == MismatchPolicy.WARN) {
            log.warn("{} is taken for a duplicate: {} is completed with other content", delivery, spec);
            return DUPLICATE;
        }
        log.error(
                "{} is returned: {} is completed with other content. If one key stands for two things, correct the key; if the"
                        + " sender repeats one thing with another timestamp, for example, {} fingerprint of"
                        + " @ExactlyOnceListener, or set exactly-once.listeners.{}.on-mismatch",
                delivery,
                spec,
                spec.hasFingerprint() ? "leave content that changes out of" : "name the content to compare in",
                delivery.subscription().listener());
        return retry(delivery);
    }

    /**
     * If it cannot wait, the holder's lease is the least delay, so that a dead holder's key can be taken over at the next
     * attempt, but no more than a window: the holder may end long before a long lease does.
     */
    private static Disposition heldElsewhere(Delivery delivery, HeldElsewhere held) {
        Duration window = delivery.subscription().window().length();
        Duration lease = held.leaseRemaining().compareTo(window) > 0 ? window : held.leaseRemaining();
        log.debug("{} waits: {} is held elsewhere", delivery, delivery.spec());
        return new Disposition.Wait(lease.isNegative() ? Duration.ZERO : lease);
    }

    /** Tells of a key that only a person can decide on. */
    public static void parked(Delivery delivery) {
        log.warn("{} is returned: {} is parked and waits for a person's decision", delivery, delivery.spec());
    }
}
