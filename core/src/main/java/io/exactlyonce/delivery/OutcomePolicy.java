package io.exactlyonce.delivery;

import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.queue.RepeatedLines;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what happens to a message whose key could not be claimed, or was parked.
 *
 * @param terms the settings for claims
 * @param backoff computes how long a returned message stays invisible
 * @param own policies of listeners that have their own settings, by the listener's id
 */
public record OutcomePolicy(ClaimSettings terms, RetryBackoff backoff, Map<String, OutcomePolicy> own) {

    private static final Logger log = LoggerFactory.getLogger(OutcomePolicy.class);

    private static final Disposition DUPLICATE = new Disposition.Acknowledge();

    /** Uses the same policy for all listeners. */
    public OutcomePolicy(ClaimSettings terms, RetryBackoff backoff) {
        this(terms, backoff, Map.of());
    }

    /** Returns the policy for a listener. */
    public OutcomePolicy of(String listener) {
        return own.getOrDefault(listener, this);
    }

    /** Returns the policy for a delivery's listener. */
    public OutcomePolicy of(Delivery delivery) {
        return of(delivery.subscription().listener());
    }

    /**
     * Returns what to do with a message whose key could not be claimed.
     *
     * @throws IllegalArgumentException if the key was claimed
     */
    public Disposition decide(Delivery delivery, ClaimOutcome outcome) {
        return switch (outcome.kind()) {
            case ACQUIRED -> throw new IllegalArgumentException("%s has acquired its key".formatted(delivery));
            case ALREADY_COMPLETED -> duplicate(delivery);
            case MISMATCH -> of(delivery).mismatch(delivery);
            case HELD_ELSEWHERE -> heldElsewhere(delivery, (ClaimOutcome.HeldElsewhere) outcome);
            case PARKED -> foundParked(delivery);
        };
    }

    private Disposition retry(Delivery delivery) {
        return new Disposition.Return(of(delivery).backoff.after(delivery));
    }

    private static Disposition duplicate(Delivery delivery) {
        log.debug(
                "{} is a duplicate: {} is completed",
                delivery,
                delivery.attempt().spec());
        return DUPLICATE;
    }

    private Disposition mismatch(Delivery delivery) {
        ClaimSpec spec = delivery.attempt().spec();
        if (terms.onMismatch(spec.onMismatch()) == MismatchPolicy.WARN) {
            delivery.logLimited(
                    RepeatedLines.Kind.MISMATCH,
                    more -> log.warn(
                            "{} is treated as a duplicate, although {} is completed with other content{}",
                            delivery,
                            spec,
                            more));
            return DUPLICATE;
        }
        delivery.logLimited(
                RepeatedLines.Kind.MISMATCH,
                more -> log.error(
                        "{} is returned: {} is completed with other content. Correct the key if it names two actions. If the sender"
                                + " repeats one action with another timestamp, set fingerprint of @ExactlyOnceListener to the content"
                                + " that stays the same, or set its onMismatch, or exactly-once.listeners.{}.on-mismatch{}",
                        delivery,
                        spec,
                        delivery.subscription().listener(),
                        more));
        return retry(delivery);
    }

    /**
     * Lets a delivery wait for the owner of its key. If too many deliveries wait already, its message is made visible
     * again instead, when the owner's lease ends, or after a visibility timeout if the lease is longer. This delay may
     * also be exceeded.
     */
    private static Disposition heldElsewhere(Delivery delivery, HeldElsewhere held) {
        Duration visibilityTimeout = delivery.settings().window().length();
        Duration lease =
                held.leaseRemaining().compareTo(visibilityTimeout) > 0 ? visibilityTimeout : held.leaseRemaining();
        log.debug("{} waits: {} is held elsewhere", delivery, delivery.attempt().spec());
        return new Disposition.Wait(lease.isNegative() ? Duration.ZERO : lease);
    }

    /**
     * Decides on a message whose key was parked before. The message is made visible again, because only an operator can
     * free the key.
     */
    public Disposition.Return foundParked(Delivery delivery) {
        ClaimSpec spec = delivery.attempt().spec();
        // The first delivery that finds the key parked is logged at WARN. All later ones are logged at DEBUG.
        String more = remember(delivery) ? endOfLine(delivery) : null;
        if (more == null) {
            log.debug("{} is returned: {} is still parked", delivery, spec);
        } else {
            log.warn("{} is returned: {} is parked until an operator decides{}", delivery, spec, more);
        }
        return returnParked(delivery);
    }

    /**
     * Decides on a message whose key was parked by this attempt. The message is made visible again. Logs this at WARN,
     * up to a limit.
     */
    public Disposition.Return parked(Delivery delivery) {
        remember(delivery);
        String more = endOfLine(delivery);
        if (more == null) {
            return returnParked(delivery);
        }
        if (delivery.attempt().failure() == null) {
            log.warn(
                    "{} is returned: {} is parked until an operator decides{}",
                    delivery,
                    delivery.attempt().spec(),
                    more);
        } else {
            log.warn(
                    "{} failed with {}; its key is parked until an operator decides, and {}{}",
                    delivery,
                    delivery.attempt().failure(),
                    delivery.settings().maxReceiveCount() == null
                            ? "the message stays in its queue, which has no dead-letter queue"
                            : "its queue moves the message to the dead-letter queue",
                    more);
        }
        return returnParked(delivery);
    }

    /** Remembers that the key is parked. Returns false if the key was already remembered. */
    private static boolean remember(Delivery delivery) {
        return delivery.subscription()
                .levels()
                .lines()
                .isFirst(delivery.attempt().key().keyHash());
    }

    private static @Nullable String endOfLine(Delivery delivery) {
        return delivery.subscription().levels().lines().next(RepeatedLines.Kind.PARKED, true, delivery.receivedAt());
    }

    private Disposition.Return returnParked(Delivery delivery) {
        return new Disposition.Return(of(delivery).backoff.parked(delivery));
    }
}
