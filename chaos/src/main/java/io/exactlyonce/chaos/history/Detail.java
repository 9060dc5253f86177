package io.exactlyonce.chaos.history;

/**
 * Details that an event may have besides worker, key and call. {@link Kind} defines the required details of each kind
 * of event.
 */
public enum Detail {

    /** The name of an {@code io.exactlyonce.Effects}: the promise of the key's listener. */
    EFFECTS,

    /** The name of an {@code io.exactlyonce.InDoubtPolicy}: the policy of the key's listener. */
    POLICY,

    /** The name of a {@link Partner} that the key's handler calls. */
    PARTNER,

    /** {@code true} if {@code ExactlyOnceOperations} claims the key, in a listener that does not wait for the key. */
    ACTION,

    /** FIFO message group. */
    GROUP,

    /** The position of the message in its group's sending order: a growing whole number. */
    POSITION,

    /** {@code true} if the key's handler sends a follow-up message. */
    FOLLOWED,

    /** The key whose handler sends a follow-up message. */
    FOLLOWS,

    /** SQS message id. */
    MESSAGE,

    /** The number of times that SQS delivered the message, including this time. */
    RECEIVES,

    /** {@code Claim.fencingToken()}. */
    TOKEN,

    /** {@code Claim.attempt()}. */
    ATTEMPT,

    /** {@code Claim.isInDoubt()}: {@code true} or {@code false}. */
    IN_DOUBT,

    /** {@code ParkedClaim.claimId()}: the claim on which an operator decides. */
    CLAIM,

    /** An operator's decision, unique in the history. A decision has a start and one of several outcomes. */
    DECISION,

    /** Status of a claim's row: {@code HELD}, {@code COMPLETED}, {@code RELEASED} or {@code PARKED}. */
    STATUS,

    /** The reason: an exception, the text in a claim's row, or why a message is poison. Never blank. */
    REASON,

    /** Name of a {@link Fault}. */
    FAULT,

    /**
     * {@code true} if a failover went to a replica that may have lacked commits, because replication was asynchronous.
     */
    ASYNCHRONOUS,

    /** How many attempts of the key may throw before it is parked. */
    MAX_ATTEMPTS,

    /** Name of an {@code io.exactlyonce.MissingKeyPolicy}, of a message without a key for its listener. */
    WHEN_KEY_MISSING
}
