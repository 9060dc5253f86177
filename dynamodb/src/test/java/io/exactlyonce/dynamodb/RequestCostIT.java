package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.Requests.request;
import static io.exactlyonce.dynamodb.Requests.requests;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.testing.ScriptedDynamoDb;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The cost of a message in requests and in writes of items. A write of an item of at most 1 KB costs one write unit,
 * even if its condition fails. DynamoDB Local does not report the consumed capacity of batches.
 */
class RequestCostIT {

    private static final int MESSAGES = 100;

    private ScriptedDynamoDb dynamoDb;
    private final StoreOnTable table =
            StoreOnTable.wrapped(client -> (dynamoDb = new ScriptedDynamoDb(client)).asClient());
    private final DynamoDbClaimStore store = table.store();
    private final List<ClaimRequest> batch = requests(MESSAGES);
    private int requests;
    private int writes;

    @BeforeEach
    void claimAndComplete() {
        store.claim(List.of(request()));
        count(() -> {
            store.claim(batch);
            store.resolve(completions("\"" + "r".repeat(300) + "\""));
        });
    }

    @Test
    void firstDeliveryCostsEightHundredthsOfARequestAndTwoWrites() {
        assertThat(requests).isEqualTo(2 * MESSAGES / 25);
        assertThat(writes).isEqualTo(2 * MESSAGES);
    }

    @Test
    void duplicateCostsAFailedWriteAndARead() {
        count(() -> store.claim(
                batch.stream().map(request -> request(request.key())).toList()));

        assertThat(requests).isEqualTo(MESSAGES / 25 + 1);
        assertThat(writes).isEqualTo(MESSAGES);
    }

    @Test
    void renewalCostsAWrite() {
        List<ClaimRequest> held = requests(MESSAGES);
        store.claim(held);
        count(() -> store.renew(held.stream()
                        .map(request -> new LeaseRenewal(request.id(), Requests.LEASE))
                        .toList())
                .granted());

        assertThat(requests).isEqualTo(MESSAGES / 25);
        assertThat(writes).isEqualTo(MESSAGES);
    }

    @Test
    void endsAndClaimsThatComeTogetherShareARequest() {
        List<ClaimRequest> held = requests(10);
        store.claim(held);
        List<ClaimResolution> resolutions = held.stream()
                .<ClaimResolution>map(request -> new ClaimResolution.Completed(request.id(), "1"))
                .toList();

        count(() -> assertThat(store.apply(new ClaimBatch(resolutions, requests(15))))
                .satisfies(result -> assertThat(result.resolved().granted()).hasSize(10))
                .satisfies(result -> assertThat(result.claimed()).hasSize(15).hasOnlyElementsOfType(Acquired.class)));

        assertThat(requests).isEqualTo(1);
        assertThat(writes).isEqualTo(25);
    }

    @Test
    void lookupCostsARequestForAHundredKeysAndNoWrite() {
        count(() -> store.peek(batch.stream().map(ClaimRequest::key).toList()));

        assertThat(requests).isEqualTo(1);
        assertThat(writes).isZero();
    }

    /** The item has a key of 60 characters, a fingerprint, and a result of 300 bytes. */
    @Test
    void itemIsOneWriteUnit() {
        ClaimKey key = new ClaimKey("fulfilment-orders", "k".repeat(60));
        var request = new ClaimRequest(
                new ClaimId(key, UUID.randomUUID()),
                "12345@worker-7f9c5d6b8-x2x4z",
                Duration.ofMinutes(5),
                ClaimRequest.InDoubt.TAKE_OVER,
                ClaimKey.sha256("payload"));
        store.claim(List.of(request));
        store.resolve(List.of(new ClaimResolution.Completed(request.id(), "\"" + "r".repeat(300) + "\"")));

        int size = table.item(key.downstreamKey()).entrySet().stream()
                .mapToInt(attribute -> attribute.getKey().length() + size(attribute.getValue()))
                .sum();

        assertThat(size).isLessThan(1024);
    }

    @Test
    void decisionsOfAnOperatorShareRequests() {
        List<ClaimRequest> held = requests(MESSAGES);
        store.claim(held);
        store.resolve(held.stream()
                .map(request -> new ClaimResolution.Parked(request.id(), "told to", true))
                .toList());

        count(() -> assertThat(table.parked()
                        .releaseAll(held.stream().map(ClaimRequest::id).toList()))
                .hasSize(MESSAGES));

        assertThat(requests).isEqualTo(MESSAGES / 25);
        assertThat(writes).isEqualTo(MESSAGES);
    }

    private List<ClaimResolution> completions(String result) {
        return batch.stream()
                .<ClaimResolution>map(request -> new ClaimResolution.Completed(request.id(), result))
                .toList();
    }

    private void count(Runnable calls) {
        int requestsBefore = dynamoDb.requests();
        int writesBefore = dynamoDb.statements();
        calls.run();
        requests = dynamoDb.requests() - requestsBefore;
        writes = dynamoDb.statements() - writesBefore;
    }

    /**
     * Returns the size of a value as DynamoDB's documentation defines it. A number takes one byte for two digits, plus
     * one byte.
     */
    private static int size(AttributeValue value) {
        if (value.s() != null) {
            return value.s().getBytes(StandardCharsets.UTF_8).length;
        }
        return value.n() == null ? 1 : value.n().length() / 2 + 2;
    }
}
