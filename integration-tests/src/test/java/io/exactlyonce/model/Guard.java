package io.exactlyonce.model;

/**
 * The guards of the protocol, each with the method that implements it. If one guard is missing, the model breaks a
 * rule. If the method's check is missing, a test of the code fails. A {@link SqlCheck} removes a check in SQL. The
 * profile {@code guards} changes a check in Java, and {@link GuardMutations} reads the result.
 */
enum Guard {
    /**
     * {@code INSERT ... ON CONFLICT DO NOTHING}: one step finds out whether the key is known, and makes its first
     * claim.
     */
    FIRST_CLAIM_IS_ONE_STEP("io.exactlyonce.claim.postgres.PostgresClaimStore#write"),
    /** A takeover needs a row that was read as released, or whose lease had expired by the database's clock. */
    TAKEOVER_WAITS_FOR_THE_LEASE("io.exactlyonce.claim.KeySnapshot#isFree"),
    /**
     * The update names the {@code claim_id} that was read, because the new token and doubt are derived from that claim.
     */
    TAKEOVER_NAMES_THE_CLAIM_THAT_WAS_READ("io.exactlyonce.claim.postgres.Takeovers#takeOver"),
    /** The update checks the end of the lease again, because the owner may have renewed it since the row was read. */
    TAKEOVER_ASKS_FOR_THE_LEASE_AGAIN("io.exactlyonce.claim.postgres.Takeovers#takeOver"),
    /** {@code FOR UPDATE SKIP LOCKED}: a row that a fenced transaction has locked is not taken over. */
    TAKEOVER_LEAVES_FENCED_ROWS(Mode.FENCED, "io.exactlyonce.claim.postgres.Takeovers#takeOver"),
    /** A key whose owner vanished is free when the lease expires. A status alone would block the key forever. */
    VANISHED_HOLDER_LOSES_ITS_KEY("io.exactlyonce.claim.KeySnapshot#isFree"),
    /** A completed row is never free. */
    COMPLETED_KEY_STAYS_COMPLETED("io.exactlyonce.claim.KeySnapshot#isFree"),
    /** A claim repeated after a lost reply finds its own {@code claim_id} in the row. */
    RETRY_FINDS_ITS_OWN_CLAIM("io.exactlyonce.claim.KeySnapshot#isHeldBy"),
    /**
     * A late request of a released claim also finds its own {@code claim_id} in the row. The request acquires nothing.
     */
    GIVEN_UP_CLAIM_STAYS_GIVEN_UP("io.exactlyonce.claim.KeySnapshot#wasReleasedBy"),
    /** The takeover of an unresolved claim reports the doubt to the new handler. */
    TAKEOVER_TELLS_THE_DOUBT("io.exactlyonce.claim.KeySnapshot#isNextInDoubt"),
    /** {@code claim.in_doubt OR w.in_doubt}: a later release without effects does not clear an earlier doubt. */
    DOUBT_STAYS("io.exactlyonce.claim.postgres.PostgresClaimStore#write"),
    /** A handler that was stopped from outside releases its key in doubt, or parks it. */
    STOPPED_HANDLER_LEAVES_A_DOUBT("io.exactlyonce.delivery.pipeline.FailedAttempt#resolution"),
    /** {@code PARK}: a key in doubt is parked instead of taken over. */
    DOUBT_IS_PARKED(Mode.PARK, "io.exactlyonce.claim.KeySnapshot#mustBeParked"),
    /** Renewals name the {@code claim_id}. */
    RENEWAL_NAMES_ITS_CLAIM("io.exactlyonce.claim.postgres.PostgresClaimStore#renewOnce"),
    /** Completions name the {@code claim_id}. */
    COMPLETION_NAMES_ITS_CLAIM("io.exactlyonce.claim.postgres.PostgresClaimStore#write"),
    /** Releases name the {@code claim_id}. */
    RELEASE_NAMES_ITS_CLAIM("io.exactlyonce.claim.postgres.PostgresClaimStore#write"),
    /** Parkings name the {@code claim_id}. */
    PARKING_NAMES_ITS_CLAIM("io.exactlyonce.claim.postgres.PostgresClaimStore#write"),
    /** The worker counts its lease from before the request. */
    LEASE_COUNTS_FROM_BEFORE_THE_CALL("io.exactlyonce.delivery.pipeline.RetryingClaimClient$RepeatedCall#attempt"),
    /** A claim that is answered after its lease has expired is released, and the handler is not called. */
    HANDLER_BEGINS_WITHIN_THE_LEASE("io.exactlyonce.delivery.pipeline.Admission#admits"),
    /** {@code ensureHeld()} checks the deadline at the moment of the call. */
    ENSURE_HELD_ASKS_THE_CLOCK("io.exactlyonce.renewal.Renewable#isOn"),
    /** {@code fence()} locks the row by its {@code claim_id}. */
    FENCE_NAMES_ITS_CLAIM(Mode.FENCED, "io.exactlyonce.claim.postgres.Fence#lock"),
    /**
     * A completion without an answer is repeated. The key is not released meanwhile, because the effect has happened.
     */
    COMPLETION_IS_REPEATED_UNTIL_ANSWERED("io.exactlyonce.delivery.pipeline.Recording#isRecordWanted"),
    /**
     * Only a recorded completion acknowledges the message. The end of the handler does not, and neither does a late
     * completion.
     */
    ACKNOWLEDGED_ONCE_COMPLETED("io.exactlyonce.delivery.pipeline.Recording#recorded"),
    /** A duplicate whose key is held elsewhere waits. The duplicate is not deleted as "seen before". */
    DUPLICATE_WAITS_FOR_THE_HOLDER("io.exactlyonce.delivery.OutcomePolicy#heldElsewhere"),
    /** The waiting duplicate is invisible. Otherwise its returns would use up its receives. */
    WAITING_COSTS_NO_RECEIVE("io.exactlyonce.delivery.pipeline.WaitingDeliveries#admit"),
    /** A delivery that waits is made visible once its key is free. */
    FREE_KEY_ENDS_THE_WAIT("io.exactlyonce.delivery.pipeline.WaitingDeliveries#endWaits"),
    /**
     * A message is not returned after the local end of its visibility timeout. The receipt may make the next owner's
     * message visible.
     */
    RETURNED_WITHIN_THE_WINDOW("io.exactlyonce.renewal.MessageVisibility#exposure"),
    /** A visibility timeout is not renewed after its local end, for the same reason. */
    WINDOW_RENEWED_WITHIN_THE_WINDOW("io.exactlyonce.renewal.MessageVisibility#isOverForGood"),
    /**
     * A message whose key is completed for other content is returned, because its sender used one key for two actions.
     */
    OTHER_CONTENT_IS_RETURNED(Mode.OTHER_CONTENT, "io.exactlyonce.delivery.OutcomePolicy#mismatch"),
    /** A waiting delivery gets the fingerprint with the completion. If its content differs, the message is returned. */
    WAITER_SEES_THE_CONTENT(Mode.OTHER_CONTENT, "io.exactlyonce.delivery.pipeline.WaitingDeliveries#completed"),
    /**
     * An operator's decision names the {@code claim_id} that the operator saw, because another claim may be parked by
     * now.
     */
    DECISION_NAMES_ITS_CLAIM(Mode.PARK, "io.exactlyonce.claim.postgres.PostgresParkedClaims#decide"),
    /** An operator's decision needs a parked key, because another operator may have decided already. */
    DECISION_ASKS_FOR_A_PARKED_KEY(Mode.PARK, "io.exactlyonce.claim.postgres.PostgresParkedClaims#decide"),
    /** A key that an operator has released is run, although the key is in doubt. */
    DECISION_STAYS(Mode.PARK, "io.exactlyonce.claim.KeySnapshot#mustBeParked"),
    /**
     * The write that resolves a claim also counts the failure. An earlier try of the same write may have resolved the
     * claim already.
     */
    FAILURE_IS_COUNTED_ONCE(Mode.LIMITED, "io.exactlyonce.claim.postgres.PostgresClaimStore#write"),
    /** An attempt that was stopped does not count as a failed attempt. */
    STOPPED_HANDLER_IS_NO_FAILURE(Mode.LIMITED, "io.exactlyonce.delivery.pipeline.FailedAttempt#resolution"),
    /** The attempt that reaches {@code maxAttempts} parks its key. */
    LAST_FAILURE_PARKS(Mode.LIMITED, "io.exactlyonce.delivery.pipeline.FailedAttempt#threw"),
    /** An operator's release gives a key all of its attempts again. */
    RELEASED_KEY_COUNTS_ANEW(Mode.LIMITED, "io.exactlyonce.claim.postgres.PostgresParkedClaims#decide"),
    /** {@code DATABASE}: the key's advisory lock admits one transaction at a time. */
    ONE_TRANSACTION_PER_KEY(Mode.DATABASE, "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransaction#read"),
    /** At its end, such a transaction inserts a new row, or updates exactly the row that it read. */
    ROW_DECIDES_AT_THE_COMMIT(
            Mode.MIXED, "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransaction#complete"),
    /** {@code DATABASE}: the handler's writes and the completion are committed together. */
    EFFECT_COMMITS_WITH_THE_COMPLETION(
            Mode.DATABASE, "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransaction#complete");

    private final Mode mode;
    private final String enforcer;

    Guard(String enforcer) {
        this(Mode.RERUN, enforcer);
    }

    Guard(Mode mode, String enforcer) {
        this.mode = mode;
        this.enforcer = enforcer;
    }

    /** Returns a mode that is unsafe without this guard. */
    Mode mode() {
        return mode;
    }

    /** Returns the method that implements this guard, as {@code class#method}. */
    String enforcer() {
        return enforcer;
    }

    /** Returns the method that implements this guard, as documents name it. */
    String shortEnforcer() {
        return enforcer.substring(enforcer.lastIndexOf('.') + 1);
    }
}
