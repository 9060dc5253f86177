package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.Requests.acquire;
import static io.exactlyonce.dynamodb.Requests.claim;
import static io.exactlyonce.dynamodb.Requests.request;
import static io.exactlyonce.dynamodb.Requests.requests;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.FencingClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.testing.ScriptedDynamoDb;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException;

/** Tests the store's result for each answer of the service other than success. */
class RefusedRequestsIT {

    /** One more than the number of attempts, so that every attempt is refused. */
    private static final int ALWAYS = 7;

    private ScriptedDynamoDb dynamoDb;
    private final StoreOnTable table =
            StoreOnTable.wrapped(client -> (dynamoDb = new ScriptedDynamoDb(client)).asClient());
    private final DynamoDbClaimStore store = table.store();
    private final DynamoDbClaimStore other = table.unscripted();

    @ParameterizedTest
    @EnumSource(
            value = BatchStatementErrorCodeEnum.class,
            names = {
                "PROVISIONED_THROUGHPUT_EXCEEDED",
                "THROTTLING_ERROR",
                "REQUEST_LIMIT_EXCEEDED",
                "INTERNAL_SERVER_ERROR",
                "TRANSACTION_CONFLICT"
            })
    void statementThatIsRefusedForNowIsSentAgainAlone(BatchStatementErrorCodeEnum code) {
        List<ClaimRequest> batch = requests(10);
        claim(store, request());
        int statements = dynamoDb.statements();
        dynamoDb.refuseStatements(code, code);

        assertThat(store.claim(batch)).hasOnlyElementsOfType(Acquired.class);

        assertThat(dynamoDb.statements() - statements).isEqualTo(10 + 2);
    }

    @Test
    void claimThatIsThrottledForLongIsUnanswered() {
        dynamoDb.refuseStatements(always(BatchStatementErrorCodeEnum.THROTTLING_ERROR));

        assertThatThrownBy(() -> claim(store, request()))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("ThrottlingError");
    }

    @Test
    void endThatIsThrottledForLongIsUnansweredAndTheOthersAreRecorded() {
        List<ClaimRequest> batch = requests(3);
        store.claim(batch);
        dynamoDb.refuseStatements(always(BatchStatementErrorCodeEnum.PROVISIONED_THROUGHPUT_EXCEEDED));

        ClaimAnswers partly = store.resolve(completions(batch));

        assertThat(partly.unanswered()).containsExactly(batch.get(0).id());
        assertThat(partly.granted())
                .containsExactlyInAnyOrder(batch.get(1).id(), batch.get(2).id());
        assertThat(store.resolve(completions(batch)).granted()).hasSize(3);
    }

    @Test
    void endsOfABatchThatAreThrottledForLongCanBeTriedAgain() {
        List<ClaimRequest> batch = requests(2);
        store.claim(batch);
        ClaimRequest other = request();
        dynamoDb.refuseStatements(always(BatchStatementErrorCodeEnum.PROVISIONED_THROUGHPUT_EXCEEDED));

        ClaimBatch.Result result = store.apply(
                new ClaimBatch(completions(batch), List.of(request(batch.get(1).key()))));

        assertThat(result.resolved().unanswered()).containsExactly(batch.get(0).id());
        assertThat(result.resolved().granted()).containsExactly(batch.get(1).id());
        assertThat(result.claimed()).containsExactly(new AlreadyCompleted("1"));
        assertThat(claim(store, other)).isInstanceOf(Acquired.class);
    }

    @Test
    void onlyEndThatIsThrottledForLongIsAnOutage() {
        List<ClaimRequest> batch = requests(1);
        store.claim(batch);
        dynamoDb.refuseStatements(always(BatchStatementErrorCodeEnum.THROTTLING_ERROR));

        assertThatThrownBy(() -> store.resolve(completions(batch))).isInstanceOf(ClaimStoreUnavailableException.class);
        dynamoDb.refuseStatements(always(BatchStatementErrorCodeEnum.THROTTLING_ERROR));
        assertThatThrownBy(() -> store.apply(new ClaimBatch(completions(batch), List.of())))
                .isInstanceOf(ClaimStoreUnavailableException.class);
    }

    @Test
    void itemThatATransactionKeepsLockedIsReportedAsSuch() {
        ClaimRequest held = request();
        acquire(store, held);
        dynamoDb.refuseStatements(always(BatchStatementErrorCodeEnum.TRANSACTION_CONFLICT));
        assertThat(store.renew(List.of(new LeaseRenewal(held.id(), Requests.LEASE))))
                .isEqualTo(new ClaimAnswers(Set.of(), Set.of(held.id()), null));

        dynamoDb.refuseStatements(always(BatchStatementErrorCodeEnum.TRANSACTION_CONFLICT));
        assertThat(claim(store, request())).isEqualTo(new HeldElsewhere(Duration.ZERO));
    }

    @Test
    void requestThatFailsAsAWholeIsAnOutage() {
        dynamoDb.fail(
                BatchExecuteStatementRequest.class,
                ProvisionedThroughputExceededException.builder()
                        .message("too much")
                        .build(),
                1);

        assertThatThrownBy(() -> claim(store, request()))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasRootCauseInstanceOf(ProvisionedThroughputExceededException.class);
    }

    @Test
    void readThatFailsIsAnOutage() {
        dynamoDb.fail(
                BatchGetItemRequest.class,
                ProvisionedThroughputExceededException.builder()
                        .message("too much")
                        .build(),
                1);

        assertThatThrownBy(() -> store.peek(Set.of(request().key())))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasRootCauseInstanceOf(ProvisionedThroughputExceededException.class);
    }

    @Test
    void keysThatAreLeftUnreadAreReadAgain() {
        ClaimRequest held = request();
        acquire(store, held);
        dynamoDb.leaveUnread(3);

        assertThat(store.peek(Set.of(held.key()))).containsEntry(held.key(), KeyState.HELD);
    }

    @Test
    void keysThatAreLeftUnreadForLongAreAnOutage() {
        dynamoDb.leaveUnread(ALWAYS);

        assertThatThrownBy(() -> store.peek(Set.of(request().key())))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("left unread 7 times");
    }

    @Test
    void parkedClaimThatIsDecidedOnWhileItIsListedIsNotListed() {
        List<ClaimRequest> batch = requests(3);
        store.claim(batch);
        batch.forEach(each -> store.resolve(List.of(new ClaimResolution.Parked(each.id(), "who knows", false))));
        dynamoDb.before(BatchGetItemRequest.class, () -> {
            assertThat(table.parked().release(batch.get(0).id())).isTrue();
            ClaimRequest again = batch.get(1);
            assertThat(table.parked().release(again.id())).isTrue();
            ClaimRequest next = request(again.key());
            acquire(store, next);
            store.resolve(List.of(new ClaimResolution.Parked(next.id(), "again", false)));
        });

        assertThat(table.parked().list(null, 3))
                .extracting(ParkedClaim::key)
                .containsExactly(batch.get(2).key().key(), batch.get(1).key().key());
    }

    @Test
    void keyThatChangesItsOwnerWithEachLookupIsAnOutageInTheEnd() {
        ClaimRequest contested = request();
        acquire(store, request(contested.key()));
        giveUp(contested.key());
        changeHandsForEver(contested.key());

        assertThatThrownBy(() -> claim(store, contested))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("owner of a key changed 20 times");
    }

    @Test
    void keyWhoseOwnerRenewsInTheLastMomentIsNotParked() {
        ClaimRequest late = request();
        acquire(store, late);
        table.endLease(late.id());
        ClaimRequest cautious = new ClaimRequest(
                new ClaimId(late.key(), UUID.randomUUID()), "worker", Requests.LEASE, InDoubt.PARK, null);
        // The first request finds the item, and the second one would park it.
        dynamoDb.before(
                BatchExecuteStatementRequest.class,
                () -> dynamoDb.before(
                        BatchExecuteStatementRequest.class,
                        () -> assertThat(other.renew(List.of(new LeaseRenewal(late.id(), Requests.LEASE)))
                                        .granted())
                                .containsExactly(late.id())));

        assertThat(claim(store, cautious)).isInstanceOf(HeldElsewhere.class);
    }

    /** Makes another worker claim and release the key before each write. */
    private void changeHandsForEver(ClaimKey key) {
        dynamoDb.before(BatchExecuteStatementRequest.class, () -> {
            acquire(other, request(key));
            giveUp(key);
            changeHandsForEver(key);
        });
    }

    private void giveUp(ClaimKey key) {
        UUID holder =
                UUID.fromString(table.item(key.downstreamKey()).get("claim_id").s());
        assertThat(other.resolve(List.of(new ClaimResolution.Released(new ClaimId(key, holder), "failed", false)))
                        .granted())
                .hasSize(1);
    }

    @Test
    void statementThatIsInvalidForeverIsRefused() {
        dynamoDb.refuseStatements(BatchStatementErrorCodeEnum.VALIDATION_ERROR);
        assertThatThrownBy(() -> claim(store, request()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ValidationError: scripted for")
                .hasMessageNotContaining("card-4711");

        List<ClaimRequest> batch = requests(1);
        store.claim(batch);
        dynamoDb.refuseStatements(BatchStatementErrorCodeEnum.VALIDATION_ERROR);
        assertThatThrownBy(() -> store.resolve(completions(batch))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void missingTableIsAnOutage() {
        dynamoDb.refuseStatements(BatchStatementErrorCodeEnum.RESOURCE_NOT_FOUND);

        assertThatThrownBy(() -> claim(store, request()))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("ResourceNotFound");
    }

    @Test
    void resultThatFitsIntoNoItemFailsAloneAndBeforeAnythingIsWritten() {
        List<ClaimRequest> batch = requests(2);
        store.claim(batch);
        String large = "\"" + "x".repeat(DynamoDbClaimStore.LARGEST_RESULT - 1) + "\"";

        assertThatThrownBy(() -> store.resolve(List.of(
                                new ClaimResolution.Released(batch.get(0).id(), "failed", false),
                                new ClaimResolution.Completed(batch.get(1).id(), large)))
                        .granted())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("389121 bytes")
                .hasMessageContaining("exactly-once.claim.max-result-size");

        assertThat(store.renew(batch.stream()
                                .map(request -> new LeaseRenewal(request.id(), Requests.LEASE))
                                .toList())
                        .granted())
                .hasSize(2);
    }

    @Test
    void largestResultIsStored() {
        ClaimRequest request = request();
        acquire(store, request);
        String largest = "\"" + "x".repeat(DynamoDbClaimStore.LARGEST_RESULT - 2) + "\"";

        assertThat(store.resolve(List.of(new ClaimResolution.Completed(request.id(), largest)))
                        .granted())
                .hasSize(1);

        assertThat(claim(store, request(request.key()))).isEqualTo(new AlreadyCompleted(largest));
    }

    /** Startup fails without this right, but the right may be removed later. */
    @Test
    void statementThatIamDeniesIsAnOutage() {
        dynamoDb.refuseStatements(BatchStatementErrorCodeEnum.ACCESS_DENIED);

        assertThatThrownBy(() -> claim(store, request()))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("AccessDenied");
    }

    @Test
    void fencingIsRefusedWithWhatToUseInstead() {
        assertThat(store).isNotInstanceOf(FencingClaimStore.class);
        assertThat(store.insteadOfFence()).contains("DynamoDbCompletion.of(claim)");
    }

    private static List<ClaimResolution> completions(List<ClaimRequest> requests) {
        return requests.stream()
                .<ClaimResolution>map(request -> new ClaimResolution.Completed(request.id(), "1"))
                .toList();
    }

    private static BatchStatementErrorCodeEnum[] always(BatchStatementErrorCodeEnum code) {
        return Stream.generate(() -> code).limit(ALWAYS).toArray(BatchStatementErrorCodeEnum[]::new);
    }
}
