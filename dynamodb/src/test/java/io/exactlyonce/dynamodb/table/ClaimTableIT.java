package io.exactlyonce.dynamodb.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.testing.LocalDynamoDb;
import io.exactlyonce.dynamodb.testing.ScriptedDynamoDb;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableRequest;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;
import software.amazon.awssdk.services.dynamodb.model.UpdateTimeToLiveRequest;

/** The claim table, which several instances of an application may create at once. */
class ClaimTableIT {

    private final DynamoDbAsyncClient client = LocalDynamoDb.shared().client();
    private final ScriptedDynamoDb slower = new ScriptedDynamoDb(client);
    private final String name = "claims-" + UUID.randomUUID();

    @Test
    void anotherInstanceMakesTheTableInBetween() {
        slower.before(CreateTableRequest.class, this::makeByAnotherInstance);

        make();

        assertThat(expiry()).isEqualTo(TimeToLiveStatus.ENABLED);
    }

    @Test
    void expiryThatIsRefusedIsReported() {
        RuntimeException refusal = (RuntimeException)
                DynamoDbException.builder().message("no right to do so").build();
        slower.fail(UpdateTimeToLiveRequest.class, refusal, 1);

        assertThatThrownBy(this::make).hasRootCause(refusal);
    }

    @Test
    void outageIsNotTakenForAMissingPermissionToCreateTheTable() {
        slower.fail(DescribeTableRequest.class, new IllegalStateException("connection refused"), 1);

        assertThatThrownBy(this::make).isInstanceOfSatisfying(ClaimTableException.class, outage -> {
            assertThat(outage.problem()).endsWith("cannot be used: connection refused");
            assertThat(outage.remedy()).contains("endpoint").doesNotContain("CreateTable");
        });
    }

    @Test
    void tableThatMayNotBeCreatedNamesThePermission() {
        slower.fail(CreateTableRequest.class, new IllegalStateException("no right to do so"), 1);

        assertThatThrownBy(this::make).isInstanceOfSatisfying(ClaimTableException.class, refused -> {
            assertThat(refused.problem()).contains("cannot be created");
            assertThat(refused.remedy()).contains("dynamodb:CreateTable");
        });
    }

    @Test
    void itemThatTheStartWritesIsLeftToTtl() {
        make();
        long now = Instant.now().getEpochSecond();

        new ClaimTable(client, name).require();
        new ClaimTable(client, name).require();

        assertThat(client.scan(request -> request.tableName(name)).join().items())
                .singleElement()
                .extracting(
                        item -> Long.parseLong(item.get(ClaimItem.EXPIRES_AT).n()))
                .satisfies(expiry -> assertThat(expiry).isBetween(now, now + 60));
    }

    private void make() {
        new ClaimTable(slower.asClient(), name).createIfMissing();
    }

    private void makeByAnotherInstance() {
        new ClaimTable(client, name).createIfMissing();
    }

    private TimeToLiveStatus expiry() {
        return client.describeTimeToLive(request -> request.tableName(name))
                .join()
                .timeToLiveDescription()
                .timeToLiveStatus();
    }
}
