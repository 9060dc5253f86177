package io.exactlyonce.dynamodb.model;

import java.util.function.UnaryOperator;
import software.amazon.awssdk.core.SdkRequest;

/**
 * A condition on which the store writes, or what it writes so that another one's condition fails: how to take it out of the
 * requests on their way to DynamoDB, and a test that fails then.
 */
enum Condition {
    /** The first claim of a key finds no item. */
    FIRST_CLAIM_FINDS_NONE(Statements.upsert(), "DynamoDbClaimStoreIT#secondClaimIsHeldElsewhereWhileTheLeaseLasts"),
    TAKEOVER_FINDS_WHAT_WAS_SEEN(
            Statements.without("w", "seen", "HELD"),
            "RefusedRequestsIT#keyThatChangesHandsWithEachLookIsAnOutageInTheEnd"),
    PARKING_IN_DOUBT_FINDS_WHAT_WAS_SEEN(
            Statements.without("w", "seen", "PARKED"),
            "RefusedRequestsIT#keyWhoseHolderRenewsInTheLastMomentIsNotParked"),
    RENEWAL_NAMES_ITS_CLAIM(
            Statements.without("claim_id", "HELD", ""), "DynamoDbClaimStoreIT#claimThatWasTakenOverChangesNothing"),
    RENEWED_CLAIM_IS_HELD(
            Statements.without("status", "HELD", ""), "DynamoDbClaimStoreIT#completedClaimIsNeitherRenewedNorReleased"),
    RENEWAL_MARKS_THE_ITEM(
            Statements.withoutMark("HELD", ""), "ObservingStoreIT#keyThatIsRenewedIsHeldHoweverLongItIsObserved"),
    COMPLETION_NAMES_ITS_CLAIM(
            Statements.without("claim_id", "HELD", "COMPLETED"),
            "DynamoDbClaimStoreIT#claimThatWasTakenOverChangesNothing"),
    COMPLETED_CLAIM_WAS_HELD(
            Statements.without("status", "HELD", "COMPLETED"),
            "DynamoDbClaimStoreIT#releasedClaimIsNoLongerRenewedOrCompleted"),
    RELEASE_NAMES_ITS_CLAIM(
            Statements.without("claim_id", "HELD", "RELEASED"),
            "DynamoDbClaimStoreIT#claimThatWasTakenOverChangesNothing"),
    RELEASED_CLAIM_WAS_HELD(
            Statements.without("status", "HELD", "RELEASED"),
            "DynamoDbClaimStoreIT#completedClaimIsNeitherRenewedNorReleased"),
    PARKING_NAMES_ITS_CLAIM(
            Statements.without("claim_id", "HELD", "PARKED"),
            "DynamoDbClaimStoreIT#claimThatWasTakenOverIsNotParkedByItsFormerHolder"),
    PARKED_CLAIM_WAS_HELD(
            Statements.without("status", "HELD", "PARKED"),
            "DynamoDbCompletionIT#handlerThatFailsAfterItsTransactionCannotGiveTheKeyUp"),
    DECISION_TO_RELEASE_NAMES_ITS_CLAIM(
            Statements.without("claim_id", "PARKED", "RELEASED"),
            "DynamoDbParkedClaimsIT#decisionForAnEarlierParkingChangesNothing"),
    DECISION_TO_RELEASE_FINDS_IT_PARKED(
            Statements.without("status", "PARKED", "RELEASED"), "DynamoDbParkedClaimsIT#onlyTheFirstDecisionCounts"),
    DECISION_TO_COMPLETE_NAMES_ITS_CLAIM(
            Statements.without("claim_id", "PARKED", "COMPLETED"),
            "DynamoDbParkedClaimsIT#decisionForAnEarlierParkingChangesNothing"),
    DECISION_TO_COMPLETE_FINDS_IT_PARKED(
            Statements.without("status", "PARKED", "COMPLETED"),
            "DynamoDbParkedClaimsIT#decisionOnAClaimThatIsNotParkedChangesNothing"),
    TRANSACTION_NAMES_ITS_CLAIM(
            Expressions.ofTransactionsWithout("token"),
            "DynamoDbCompletionIT#transactionOfAWorkerThatLostItsClaimIsCancelled"),
    TRANSACTION_ASKS_FOR_A_HELD_KEY(
            Expressions.ofTransactionsWithout("status"), "DynamoDbCompletionIT#secondTransactionOfAHandlerIsCancelled"),
    TRANSACTION_HAS_THE_COMPLETION(
            Expressions.transactionsWithoutCompletions(), "DynamoDbCompletionIT#effectAndCompletionHappenTogether"),
    /** The same conditions, where IAM denies PartiQL: they are put into other words at one place. */
    SINGLE_FIRST_CLAIM_FINDS_NONE(
            Expressions.put(), "RefusedRequestsIT#whereIamDeniesPartiQlClaimsAreMadeBySingleRequests"),
    SINGLE_TAKEOVER_FINDS_WHAT_WAS_SEEN(
            Expressions.ofUpdatesWithout("w"), "RefusedRequestsIT#whereIamDeniesPartiQlAConditionIsAskedForAllTheSame"),
    SINGLE_UPDATE_NAMES_ITS_CLAIM(
            Expressions.ofUpdatesWithout("claim_id"),
            "RefusedRequestsIT#whereIamDeniesPartiQlClaimsAreMadeBySingleRequests"),
    SINGLE_UPDATE_ASKS_FOR_THE_STATUS(
            Expressions.ofUpdatesWithout("status"),
            "RefusedRequestsIT#whereIamDeniesPartiQlClaimsAreMadeBySingleRequests");

    private final UnaryOperator<SdkRequest> without;
    private final String test;

    Condition(UnaryOperator<SdkRequest> without, String test) {
        this.without = without;
        this.test = test;
    }

    /** Returns a request without this condition; as it is, the same object, if it has none. */
    SdkRequest remove(SdkRequest request) {
        return without.apply(request);
    }

    /** Returns the test that fails without it, as {@code class#method}, within the module's package. */
    String test() {
        return test;
    }
}
