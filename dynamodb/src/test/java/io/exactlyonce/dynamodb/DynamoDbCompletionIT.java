package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.Requests.acquire;
import static io.exactlyonce.dynamodb.Requests.claim;
import static io.exactlyonce.dynamodb.Requests.handed;
import static io.exactlyonce.dynamodb.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.testing.DropsReplies;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/**
 * Effects in DynamoDB and the completion form one transaction. The counter of each order grows once, although workers
 * die or pause and replies get lost.
 */
class DynamoDbCompletionIT {

    private static final DropsReplies REPLIES = new DropsReplies();
    private static final StoreOnTable TABLE = StoreOnTable.create(REPLIES);

    private final DynamoDbClaimStore store = TABLE.store();
    private final String order = "effect-" + UUID.randomUUID();
    private final ClaimRequest first = request();

    @Test
    void effectAndCompletionHappenTogether() {
        transact(handed(first, acquire(store, first)), "\"paid\"");

        assertThat(effects()).isEqualTo(1);
        assertThat(claim(store, request(first.key()))).isEqualTo(new AlreadyCompleted("\"paid\""));
        assertThat(TABLE.item(first.key().downstreamKey())).containsKeys("completed_at", "expires_at");
    }

    /**
     * Until the completion, retention counts from the end of the lease. The completion in the application's transaction
     * starts the retention again.
     */
    @Test
    void keyIsRememberedForTheRetentionOfItsRequest() {
        Duration retention = Duration.ofDays(400);
        ClaimRequest longer = new ClaimRequest(first.id(), "worker", first.lease(), InDoubt.TAKE_OVER, null, retention);
        Claim claim = handed(longer, acquire(store, longer));
        assertThat(secondsKept()).isBetween(retention.toSeconds(), retention.toSeconds() + 120);

        store.renew(List.of(new LeaseRenewal(longer.id(), Duration.ofHours(12))));
        assertThat(secondsKept()).isBetween(retention.toSeconds() + 43_000, retention.toSeconds() + 43_300);

        transact(claim, "1");
        assertThat(secondsKept()).isBetween(retention.toSeconds() - 5, retention.toSeconds() + 5);
    }

    private long secondsKept() {
        return Long.parseLong(TABLE.item(first.key().downstreamKey())
                        .get("expires_at")
                        .n())
                - Instant.now().getEpochSecond();
    }

    @Test
    void workerThatDiesBeforeItsTransactionLeavesNothing() {
        acquire(store, first);
        TABLE.endLease(first.id());

        ClaimRequest next = request(first.key());
        transact(handed(next, acquire(store, next)), "1");

        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void keyOfAWorkerThatDiesAfterItsTransactionIsNotTakenOver() {
        transact(handed(first, acquire(store, first)), "1");
        TABLE.endLease(first.id());

        assertThat(claim(store, request(first.key()))).isEqualTo(new AlreadyCompleted("1"));
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void transactionOfAWorkerThatLostItsClaimIsCancelled() {
        Claim paused = handed(first, acquire(store, first));
        TransactWriteItem madeBefore = TABLE.completion().of(paused);
        TABLE.endLease(first.id());
        ClaimRequest next = request(first.key());
        Claim successor = handed(next, acquire(store, next));

        assertCancelled(() -> transact(madeBefore));
        assertCancelled(() -> transact(paused, "1"));
        assertThat(effects()).isZero();

        transact(successor, "2");
        assertCancelled(() -> transact(paused, "1"));
        assertThat(effects()).isEqualTo(1);
        assertThat(claim(store, request(first.key()))).isEqualTo(new AlreadyCompleted("2"));
    }

    @Test
    void transactionWhoseReplyIsLostIsNotDoneTwice() {
        Claim claim = handed(first, acquire(store, first));
        REPLIES.dropNext();

        transact(claim, "1");

        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void secondTransactionOfAHandlerIsCancelled() {
        Claim claim = handed(first, acquire(store, first));
        transact(claim, "1");

        assertCancelled(() -> transact(claim, "1"));

        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void transactionThatFailsForAnotherReasonCompletesNothing() {
        Claim claim = handed(first, acquire(store, first));
        TransactWriteItem impossible = TransactWriteItem.builder()
                .conditionCheck(check -> check.tableName(TABLE.table())
                        .key(key("never there"))
                        .conditionExpression("attribute_exists(pk)"))
                .build();

        assertCancelled(() -> TABLE.client()
                .transactWriteItems(request ->
                        request.transactItems(effect(), TABLE.completion().of(claim), impossible))
                .join());

        assertThat(effects()).isZero();
        assertThat(store.resolve(List.of(new ClaimResolution.Released(first.id(), "failed", false)))
                        .granted())
                .hasSize(1);
    }

    /** The engine detects the completion when the handler returns, and renews until then. */
    @Test
    void engineTakesTheClaimForHeldAndItsCompletionForRecorded() {
        transact(handed(first, acquire(store, first)), "1");
        Map<String, AttributeValue> before = TABLE.item(first.key().downstreamKey());

        assertThat(store.renew(List.of(new LeaseRenewal(first.id(), Requests.LEASE)))
                        .granted())
                .containsExactly(first.id());
        assertThat(store.resolve(List.of(new ClaimResolution.Completed(first.id(), "\"by the engine\"")))
                        .granted())
                .containsExactly(first.id());

        assertThat(TABLE.item(first.key().downstreamKey())).isEqualTo(before);
    }

    @Test
    void handlerThatFailsAfterItsTransactionCannotGiveTheKeyUp() {
        transact(handed(first, acquire(store, first)), "1");

        assertThat(store.resolve(List.of(new ClaimResolution.Released(first.id(), "failed", true)))
                        .granted())
                .isEmpty();
        assertThat(store.resolve(List.of(new ClaimResolution.Parked(first.id(), "who knows", true)))
                        .granted())
                .isEmpty();

        assertThat(claim(store, request(first.key()))).isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    void otherClaimsOfTheKeyAreNotTakenForIt() {
        Claim claim = handed(first, acquire(store, first));
        ClaimRequest other = request(first.key());
        transact(claim, "1");

        assertThat(store.renew(List.of(new LeaseRenewal(other.id(), Requests.LEASE)))
                        .granted())
                .isEmpty();
        assertThat(store.resolve(List.of(new ClaimResolution.Completed(other.id(), "2")))
                        .granted())
                .isEmpty();
    }

    @Test
    void workersThatRaceForAnAbandonedKeyHaveOneEffect() {
        acquire(store, first);
        TABLE.endLease(first.id());
        List<CompletableFuture<ClaimOutcome>> racing = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            ClaimRequest request = request(first.key());
            racing.add(CompletableFuture.supplyAsync(() -> {
                ClaimOutcome outcome = claim(store, request);
                if (outcome instanceof Acquired acquired) {
                    transact(handed(request, acquired), "1");
                }
                return outcome;
            }));
        }

        assertThat(racing.stream().map(CompletableFuture::join))
                .filteredOn(Acquired.class::isInstance)
                .hasSize(1);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void resultThatFitsIntoNoItemIsRefused() {
        Claim claim = handed(first, acquire(store, first));

        assertThatThrownBy(() -> TABLE.completion().of(claim, "x".repeat(DynamoDbClaimStore.LARGEST_RESULT + 1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private void transact(Claim claim, String result) {
        transact(TABLE.completion().of(claim, result));
    }

    private void transact(TransactWriteItem completion) {
        TABLE.client()
                .transactWriteItems(request -> request.transactItems(effect(), completion))
                .join();
    }

    /** The effect increments a counter, because a counter reveals an effect that happens twice. */
    private TransactWriteItem effect() {
        return TransactWriteItem.builder()
                .update(update -> update.tableName(TABLE.table())
                        .key(key(order))
                        .updateExpression("ADD effects :one")
                        .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))))
                .build();
    }

    private int effects() {
        AttributeValue effects = TABLE.item(order).get("effects");
        return effects == null ? 0 : Integer.parseInt(effects.n());
    }

    private static Map<String, AttributeValue> key(String pk) {
        return Map.of("pk", AttributeValue.fromS(pk));
    }

    private static void assertCancelled(Runnable transaction) {
        assertThatThrownBy(transaction::run)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(TransactionCanceledException.class);
    }
}
