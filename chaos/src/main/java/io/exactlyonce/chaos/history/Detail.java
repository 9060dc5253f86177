package io.exactlyonce.chaos.history;

/** What an event may tell besides worker, key and call. {@link Kind} says which kind of event must tell what. */
public enum Detail {

    /** Name of an {@code io.exactlyonce.Effects}: what the key's listener promises. */
    EFFECTS,

    /** Name of an {@code io.exactlyonce.InDoubtPolicy}: the key's listener's policy. */
    POLICY,

    /** Name of a {@link Partner} that the key's handler calls. */
    PARTNER,

    /** {@code true} if {@code ExactlyOnceOperations} holds the key, in a listener that does not wait for it. */
    ACTION,

    /** FIFO message group. */
    GROUP,

    /** Place of the message in its group's order of sending: a whole number that grows. */
    POSITION,

    /** {@code true} if the key's handler sends a follow-up message. */
    FOLLOWED,

    /** The key whose handler sends a follow-up message. */
    FOLLOWS,

    /** SQS message id. */
    MESSAGE,

    /** How often SQS has delivered the message so far, this time included. */
    RECEIVES,

    /** {@code Claim.fencingToken()}. */
    TOKEN,

    /** {@code Claim.attempt()}. */
    ATTEMPT,

    /** {@code Claim.isInDoubt()}: {@code true} or {@code false}. */
    IN_DOUBT,

    /** {@code ParkedClaim.claimId()}: the claim that an operator decides on. */
    CLAIM,

    /** An operator's decision, unique in the history: it begins, and has one of several outcomes. */
    DECISION,

    /** Status of a claim's row: {@code HELD}, {@code COMPLETED}, {@code RELEASED} or {@code PARKED}. */
    STATUS,

    /** Why: an exception, what a claim's row says, what makes a message poison. Never blank. */
    REASON,

    /** Name of a {@link Fault}. */
    FAULT,

    /**
     * {@code true} if a failover went to a replica that may have lacked what was committed: replication was
     * asynchronous.
     */
    ASYNCHRONOUS,

    /** How many attempts of the key may throw before it is parked. */
    MAX_ATTEMPTS,

    /** Name of an {@code io.exactlyonce.MissingKeyPolicy}, of a message without a key for its listener. */
    WHEN_KEY_MISSING
}
