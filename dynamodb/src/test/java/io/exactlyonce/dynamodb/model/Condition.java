package io.exactlyonce.dynamodb.model;

import java.util.function.UnaryOperator;
import software.amazon.awssdk.core.SdkRequest;

/**
 * A condition of a write, or a written value on which the condition of another write depends. Each constant has a
 * function that removes the condition from the requests to DynamoDB, and the name of a test that fails without it.
 */
enum Condition {
    /** The first claim of a key finds no item. */
    FIRST_CLAIM_FINDS_NONE(Statements.upsert(), "DynamoDbClaimStoreIT#secondClaimIsHeldElsewhereWhileTheLeaseLasts"),
    TAKEOVER_FINDS_WHAT_WAS_SEEN(
            Statements.without(Text.VERSION, Text.HOLD),
            "RefusedRequestsIT#keyThatChangesItsOwnerWithEachLookupIsAnOutageInTheEnd"),
    PARKING_IN_DOUBT_FINDS_WHAT_WAS_SEEN(
            Statements.without(Text.VERSION, Text.PARK),
            "RefusedRequestsIT#keyWhoseOwnerRenewsInTheLastMomentIsNotParked"),
    RENEWAL_NAMES_ITS_CLAIM(
            Statements.without(Text.CLAIM, Text.RENEW), "DynamoDbClaimStoreIT#claimThatWasTakenOverChangesNothing"),
    RENEWED_CLAIM_IS_HELD(
            Statements.without(Text.HELD, Text.RENEW),
            "DynamoDbClaimStoreIT#completedClaimIsNeitherRenewedNorReleased"),
    RENEWAL_MAKES_A_VERSION(
            Statements.without(Text.NEW_VERSION, Text.RENEW),
            "ObservingStoreIT#keyThatIsRenewedIsHeldHoweverLongItIsObserved"),
    COMPLETION_NAMES_ITS_CLAIM(
            Statements.without(Text.CLAIM, Text.COMPLETE, Text.HELD),
            "DynamoDbClaimStoreIT#claimThatWasTakenOverChangesNothing"),
    COMPLETED_CLAIM_WAS_HELD(
            Statements.without(Text.HELD, Text.COMPLETE),
            "DynamoDbClaimStoreIT#releasedClaimIsNoLongerRenewedOrCompleted"),
    RELEASE_NAMES_ITS_CLAIM(
            Statements.without(Text.CLAIM, Text.RELEASE, Text.HELD),
            "DynamoDbClaimStoreIT#claimThatWasTakenOverChangesNothing"),
    RELEASED_CLAIM_WAS_HELD(
            Statements.without(Text.HELD, Text.RELEASE),
            "DynamoDbClaimStoreIT#completedClaimIsNeitherRenewedNorReleased"),
    PARKING_NAMES_ITS_CLAIM(
            Statements.without(Text.CLAIM, Text.PARK),
            "DynamoDbClaimStoreIT#claimThatWasTakenOverIsNotParkedByItsFormerHolder"),
    PARKED_CLAIM_WAS_HELD(
            Statements.without(Text.HELD, Text.PARK),
            "DynamoDbCompletionIT#handlerThatFailsAfterItsTransactionCannotGiveTheKeyUp"),
    DECISION_TO_RELEASE_NAMES_ITS_CLAIM(
            Statements.without(Text.CLAIM, Text.RELEASE, Text.PARKED),
            "DynamoDbParkedClaimsIT#decisionForAnEarlierParkingChangesNothing"),
    DECISION_TO_RELEASE_FINDS_IT_PARKED(
            Statements.without(Text.PARKED, Text.RELEASE), "DynamoDbParkedClaimsIT#onlyTheFirstDecisionCounts"),
    DECISION_TO_COMPLETE_NAMES_ITS_CLAIM(
            Statements.without(Text.CLAIM, Text.COMPLETE, Text.PARKED),
            "DynamoDbParkedClaimsIT#decisionForAnEarlierParkingChangesNothing"),
    DECISION_TO_COMPLETE_FINDS_IT_PARKED(
            Statements.without(Text.PARKED, Text.COMPLETE),
            "DynamoDbParkedClaimsIT#decisionOnAClaimThatIsNotParkedChangesNothing"),
    TRANSACTION_NAMES_ITS_CLAIM(
            Expressions.ofTransactionsWithout("#token = :token"),
            "DynamoDbCompletionIT#transactionOfAWorkerThatLostItsClaimIsCancelled"),
    TRANSACTION_ASKS_FOR_A_HELD_KEY(
            Expressions.ofTransactionsWithout("#status = :held"),
            "DynamoDbCompletionIT#secondTransactionOfAHandlerIsCancelled"),
    TRANSACTION_HAS_THE_COMPLETION(
            Expressions.transactionsWithoutCompletions(), "DynamoDbCompletionIT#effectAndCompletionHappenTogether");

    /** Parts of statements. */
    private static final class Text {
        private static final String NEW_VERSION = " SET \"w\"=?";
        private static final String HOLD = "SET \"status\"='HELD'";
        private static final String RENEW = "SET \"w\"=? SET \"lease_micros\"=?";
        private static final String COMPLETE = "SET \"status\"='COMPLETED'";
        private static final String RELEASE = "SET \"status\"='RELEASED'";
        private static final String PARK = "SET \"status\"='PARKED'";
        private static final String VERSION = " AND \"w\"=?";
        private static final String CLAIM = " AND \"claim_id\"=?";
        private static final String HELD = " AND \"status\"='HELD'";
        private static final String PARKED = " AND \"status\"='PARKED'";
    }

    private final UnaryOperator<SdkRequest> without;
    private final String test;

    Condition(UnaryOperator<SdkRequest> without, String test) {
        this.without = without;
        this.test = test;
    }

    /** Returns a request without this condition, or the same object if the request does not have the condition. */
    SdkRequest remove(SdkRequest request) {
        return without.apply(request);
    }

    /** Returns the test that fails without this condition, as {@code class#method}, within the module's package. */
    String test() {
        return test;
    }
}
