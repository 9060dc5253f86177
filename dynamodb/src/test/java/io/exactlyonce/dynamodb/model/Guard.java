package io.exactlyonce.dynamodb.model;

/**
 * The guards of the protocol, each with the method that implements it and a test that fails without it. Without any
 * guard the model breaks a rule.
 */
enum Guard {
    /** A takeover waits for {@code clock-error} past the lease: the two workers' front ends may be that far apart. */
    TAKEOVER_ALLOWS_FOR_THE_ERROR(
            "clock.LeaseClock#remainingMicros",
            "LeaseClockTests#leaseIsOverOnlyWhenTheEarliestTimeIsPastItsEndAndTheError"),
    /** A takeover goes by the earliest time that it may be. */
    TAKEOVER_GOES_BY_THE_EARLIEST_TIME(
            "clock.LeaseClock#remainingMicros",
            "LeaseClockTests#leaseIsOverOnlyWhenTheEarliestTimeIsPastItsEndAndTheError"),
    /** A lease's end is written as the latest that it may be. */
    LEASE_ENDS_BY_THE_LATEST_TIME("clock.LeaseClock#end", "LeaseClockTests#leaseEndsNotBeforeItsHolderCountsItOver"),
    /** A time that is missing, imprecise or contradictory is none. */
    UNSOUND_TIME_DECIDES_NOTHING("clock.ServiceClock#now", "LeaseClockTests#contradictoryTimeDecidesNothing"),
    /** Without a time, an item must have been seen unchanged for a whole lease. */
    OBSERVATION_LASTS_A_WHOLE_LEASE(
            "clock.LeaseClock#remainingMicros", "LeaseClockTests#withoutAnyTimeAnUnchangedClaimIsOverAfterAWholeLease"),
    /** And then the key is free: without this it would be held for ever where there is no time. */
    OBSERVATION_FREES_THE_KEY(
            "clock.Observations#unchangedMicros",
            "LeaseClockTests#withoutAnyTimeAnUnchangedClaimIsOverAfterAWholeLease"),
    /** A renewal makes another version of the item, which cannot be taken for the one before. */
    RENEWAL_MAKES_A_VERSION(
            "item.ClaimStatements#renew", "ObservingStoreIT#keyThatIsRenewedIsHeldHoweverLongItIsObserved"),
    /** A takeover names the version that was decided on. */
    TAKEOVER_NAMES_THE_VERSION(
            "item.ClaimStatements#takeOver", "DynamoDbCompletionIT#workersThatRaceForAnAbandonedKeyHaveOneEffect"),
    /** A completed key is never free. */
    COMPLETED_KEY_STAYS_COMPLETED(
            "KeyWork#decide", "DynamoDbCompletionIT#keyOfAWorkerThatDiesAfterItsTransactionIsNotTakenOver"),
    /** Effect and completion are one transaction. */
    EFFECT_HAPPENS_WITH_THE_COMPLETION(
            "item.ClaimStatements#completion", "DynamoDbCompletionIT#effectAndCompletionHappenTogether"),
    /** A transaction names its claim, by its token. */
    TRANSACTION_NAMES_ITS_CLAIM(
            "item.ClaimStatements#completion", "DynamoDbCompletionIT#transactionOfAWorkerThatLostItsClaimIsCancelled"),
    /** The condition of a transaction requires a held key, because its claim may have completed it already. */
    TRANSACTION_ASKS_FOR_A_HELD_KEY(
            "item.ClaimStatements#completion", "DynamoDbCompletionIT#secondTransactionOfAHandlerIsCancelled");

    private final String enforcer;
    private final String test;

    Guard(String enforcer, String test) {
        this.enforcer = enforcer;
        this.test = test;
    }

    /** Returns the method that does it, as {@code class#method}, within this module's package. */
    String enforcer() {
        return enforcer;
    }

    /** Returns a test of the code that fails without it, as {@code class#method}. */
    String test() {
        return test;
    }
}
