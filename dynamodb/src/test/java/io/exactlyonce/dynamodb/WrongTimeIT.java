package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.Requests.acquire;
import static io.exactlyonce.dynamodb.Requests.claim;
import static io.exactlyonce.dynamodb.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.testing.ScriptedDynamoDb;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;

/**
 * A suspended machine computes a lease's end from an old time. The answer to its write reveals this, and the lease then
 * ends by observation.
 */
class WrongTimeIT {

    private static final long START_MILLIS = 1_800_000_000_000L;
    private static final long HOUR_MILLIS = Duration.ofHours(1).toMillis();

    private ScriptedDynamoDb dynamoDb;
    private final StoreOnTable table =
            StoreOnTable.withoutDates(client -> (dynamoDb = new ScriptedDynamoDb(client)).asClient());
    private final DynamoDbClaimStore store = table.store();

    @BeforeEach
    void measure() {
        answerAt(START_MILLIS);
    }

    @Test
    void leaseOfAClaimIsWrittenAgain() {
        ClaimRequest request = request();
        dynamoDb.before(BatchExecuteStatementRequest.class, this::anHourIsMissing);

        assertThat(claim(store, request)).isEqualTo(new Acquired(1, token(request), false));

        assertThat(table.item(request.key().downstreamKey()))
                .containsEntry("lease_until", AttributeValue.fromNul(true));
    }

    @Test
    void renewedLeaseIsWrittenAgain() {
        ClaimRequest request = request();
        acquire(store, request);
        dynamoDb.before(BatchExecuteStatementRequest.class, this::anHourIsMissing);

        assertThat(store.renew(List.of(new LeaseRenewal(request.id(), Requests.LEASE)))
                        .granted())
                .containsExactly(request.id());

        assertThat(table.item(request.key().downstreamKey()))
                .containsEntry("lease_until", AttributeValue.fromNul(true));
    }

    private void anHourIsMissing() {
        answerAt(START_MILLIS + HOUR_MILLIS);
    }

    private void answerAt(long millis) {
        long nanos = System.nanoTime();
        table.time().answered(nanos, nanos, millis);
    }

    private long token(ClaimRequest request) {
        return Long.parseLong(
                table.item(request.key().downstreamKey()).get("token").n());
    }
}
