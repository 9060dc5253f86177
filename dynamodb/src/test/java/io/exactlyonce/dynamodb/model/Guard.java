package io.exactlyonce.dynamodb.model;

/**
 * The guards of the protocol, each with the method that implements it and a test that fails without it. If one guard is
 * missing, the model breaks a rule.
 */
enum Guard {
    /**
     * A takeover waits for {@code clock-error} after the lease, because the front ends of two workers may differ by
     * that much.
     */
    TAKEOVER_ALLOWS_FOR_THE_ERROR(
            "clock.LeaseClock#remainingMicros",
            "LeaseClockTests#leaseIsOverOnlyWhenTheEarliestTimeIsPastItsEndAndTheError"),
    /** A takeover uses the earliest possible current time. */
    TAKEOVER_GOES_BY_THE_EARLIEST_TIME(
            "clock.LeaseClock#remainingMicros",
            "LeaseClockTests#leaseIsOverOnlyWhenTheEarliestTimeIsPastItsEndAndTheError"),
    /** A lease's end is written as the latest possible time. */
    LEASE_ENDS_BY_THE_LATEST_TIME("clock.LeaseClock#end", "LeaseClockTests#leaseEndsNotBeforeItsOwnerCountsItOver"),
    /** A missing, imprecise or contradictory time counts as no time. */
    UNSOUND_TIME_DECIDES_NOTHING("clock.ServiceClock#now", "LeaseClockTests#contradictoryTimeDecidesNothing"),
    /** Without a time, a worker must have seen the item unchanged for a whole lease. */
    OBSERVATION_LASTS_A_WHOLE_LEASE(
            "clock.LeaseClock#remainingMicros", "LeaseClockTests#withoutAnyTimeAnUnchangedClaimIsOverAfterAWholeLease"),
    /**
     * A key is free if its item was observed unchanged for a whole lease. Without this guard, the key would be held
     * forever if there is no time.
     */
    OBSERVATION_FREES_THE_KEY(
            "clock.Observations#unchangedMicros",
            "LeaseClockTests#withoutAnyTimeAnUnchangedClaimIsOverAfterAWholeLease"),
    /** A renewal gives the item a new version. */
    RENEWAL_MAKES_A_VERSION(
            "item.ClaimStatements#renew", "ObservingStoreIT#keyThatIsRenewedIsHeldHoweverLongItIsObserved"),
    /** A takeover names the version on which the decision was based. */
    TAKEOVER_NAMES_THE_VERSION(
            "item.ClaimStatements#takeOver", "DynamoDbCompletionIT#workersThatRaceForAnAbandonedKeyHaveOneEffect"),
    /** A completed key is never free. */
    COMPLETED_KEY_STAYS_COMPLETED(
            "KeyWork#decide", "DynamoDbCompletionIT#keyOfAWorkerThatDiesAfterItsTransactionIsNotTakenOver"),
    /** Effect and completion are one transaction. */
    EFFECT_HAPPENS_WITH_THE_COMPLETION(
            "item.ClaimStatements#completion", "DynamoDbCompletionIT#effectAndCompletionHappenTogether"),
    /** A transaction names its claim by the claim's token. */
    TRANSACTION_NAMES_ITS_CLAIM(
            "item.ClaimStatements#completion", "DynamoDbCompletionIT#transactionOfAWorkerThatLostItsClaimIsCancelled"),
    /**
     * A transaction requires a held key, because an earlier transaction of the same claim may have completed the key.
     */
    TRANSACTION_ASKS_FOR_A_HELD_KEY(
            "item.ClaimStatements#completion", "DynamoDbCompletionIT#secondTransactionOfAHandlerIsCancelled");

    private final String enforcer;
    private final String test;

    Guard(String enforcer, String test) {
        this.enforcer = enforcer;
        this.test = test;
    }

    /** Returns the method that implements this guard, as {@code class#method}, within this module's package. */
    String enforcer() {
        return enforcer;
    }

    /** Returns a test, as {@code class#method}, that fails if the code lacks this guard. */
    String test() {
        return test;
    }
}
