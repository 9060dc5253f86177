package io.exactlyonce.dynamodb.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.DescribeContinuousBackupsRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeContinuousBackupsResponse;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableResponse;
import software.amazon.awssdk.services.dynamodb.model.DescribeTimeToLiveRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeTimeToLiveResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndexDescription;
import software.amazon.awssdk.services.dynamodb.model.IndexStatus;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.MultiRegionConsistency;
import software.amazon.awssdk.services.dynamodb.model.PointInTimeRecoveryStatus;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputDescription;
import software.amazon.awssdk.services.dynamodb.model.ReplicaDescription;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;
import software.amazon.awssdk.services.dynamodb.model.TableWarmThroughputDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

/** Each way in which a table cannot keep claims, or should not be left so, as AWS would describe it. */
class TableAuditTests {

    private TableDescription table = TableDescription.builder()
            .tableStatus(TableStatus.ACTIVE)
            .keySchema(key("pk", KeyType.HASH))
            .globalSecondaryIndexes(index(IndexStatus.ACTIVE))
            .deletionProtectionEnabled(true)
            .warmThroughput(warm -> warm.writeUnitsPerSecond(4_000L))
            .provisionedThroughput(provisioned -> provisioned.writeCapacityUnits(0L))
            .build();
    private TimeToLiveStatus expiry = TimeToLiveStatus.ENABLED;
    private @Nullable String expiryAttribute = "expires_at";
    private PointInTimeRecoveryStatus recovery = PointInTimeRecoveryStatus.ENABLED;
    private @Nullable RuntimeException failure;
    private @Nullable RuntimeException recoveryFailure;

    @Test
    void tableAsDocumentedIsTaken() {
        assertThat(audit(2_000)).isEmpty();
    }

    @Test
    void missingTableIsRefused() {
        failure = ResourceNotFoundException.builder().message("none").build();

        assertRefused("table claims does not exist", "initialize-schema=always");
    }

    @Test
    void tableThatMayNotBeDescribedIsRefused() {
        failure = (RuntimeException)
                DynamoDbException.builder().message("no right to do so").build();

        assertRefused("no right to do so", "dynamodb:DescribeTable");
    }

    @Test
    void tableThatIsNotReadyIsRefused() {
        change(table -> table.tableStatus(TableStatus.CREATING));

        assertRefused("table claims is CREATING", "start when it is ACTIVE");
    }

    @Test
    void tableThatIsChangedJustNowIsTaken() {
        change(table -> table.tableStatus(TableStatus.UPDATING));

        assertThat(audit(0)).isEmpty();
    }

    @Test
    void otherKeyIsRefused() {
        change(table -> table.keySchema(key("pk", KeyType.HASH), key("sk", KeyType.RANGE)));

        assertRefused("partition key pk alone", "create another table");
    }

    @Test
    void missingIndexIsRefused() {
        change(table -> table.globalSecondaryIndexes(List.of()));

        assertRefused("no index parked", "add it");
    }

    @Test
    void indexWithOtherKeysIsRefused() {
        change(table -> table.globalSecondaryIndexes(index(IndexStatus.ACTIVE).toBuilder()
                .keySchema(key("parked", KeyType.HASH))
                .build()));

        assertRefused("index parked of table claims has the key", "parked and parked_at");
    }

    @Test
    void indexThatIsNotReadyIsRefused() {
        change(table -> table.globalSecondaryIndexes(index(IndexStatus.CREATING)));

        assertRefused("index parked of table claims is CREATING", "start when it is ACTIVE");
    }

    @Test
    void globalTableWithEventualConsistencyIsRefused() {
        change(table -> table.replicas(
                ReplicaDescription.builder().regionName("eu-west-1").build()));

        assertRefused("two Regions can both acquire a key", "MRSC");
    }

    @Test
    void globalTableWithStrongConsistencyIsTaken() {
        change(table -> table.replicas(
                        ReplicaDescription.builder().regionName("eu-west-1").build())
                .multiRegionConsistency(MultiRegionConsistency.STRONG));

        assertThat(audit(0)).isEmpty();
    }

    @Test
    void deletionByAnotherAttributeIsRefused() {
        expiryAttribute = "completed_at";

        assertRefused("deletes items by the attribute completed_at", "expires_at");
    }

    @Test
    void missingExpiryIsWarnedOf() {
        expiry = TimeToLiveStatus.DISABLED;

        assertWarned("TTL is DISABLED");
    }

    @Test
    void expiryThatIsJustBeingEnabledIsTaken() {
        expiry = TimeToLiveStatus.ENABLING;

        assertThat(audit(0)).isEmpty();
    }

    @Test
    void missingProtectionIsWarnedOf() {
        change(table -> table.deletionProtectionEnabled(false));

        assertWarned("deletion protection is off");
    }

    @Test
    void missingRecoveryIsWarnedOf() {
        recovery = PointInTimeRecoveryStatus.DISABLED;

        assertWarned("point-in-time recovery is off");
    }

    @Test
    void recoveryThatMayNotBeAskedForIsWarnedOf() {
        recoveryFailure = (RuntimeException)
                DynamoDbException.builder().message("no right to do so").build();

        assertWarned("dynamodb:DescribeContinuousBackups");
    }

    @Test
    void tableThatIsColdForTheExpectedRateIsWarnedOf() {
        assertThat(audit(2_001)).singleElement().asString().contains("4002 write units", "warm for 4000");
    }

    @Test
    void tableWithTooLittleProvisionedIsWarnedOf() {
        change(table -> table.warmThroughput(warm -> {})
                .provisionedThroughput(provisioned -> provisioned.writeCapacityUnits(100L)));

        assertThat(audit(51)).singleElement().asString().contains("102 write units", "provisioned with 100");
        assertThat(audit(50)).isEmpty();
    }

    @Test
    void emulatorThatTellsNothingOfCapacityIsTaken() {
        change(table -> table.warmThroughput((TableWarmThroughputDescription) null)
                .provisionedThroughput((ProvisionedThroughputDescription) null));

        assertThat(audit(1_000_000)).isEmpty();
    }

    private List<String> audit(int rate) {
        return new TableAudit(new Describing(), "claims", rate).require();
    }

    private void change(Consumer<TableDescription.Builder> change) {
        table = table.copy(change);
    }

    private void assertRefused(String problem, String remedy) {
        assertThatThrownBy(() -> audit(0)).isInstanceOfSatisfying(ClaimTableException.class, refused -> {
            assertThat(refused.problem()).contains(problem);
            assertThat(refused.remedy()).contains(remedy);
        });
    }

    private void assertWarned(String warning) {
        assertThat(audit(0)).singleElement().asString().contains(warning);
    }

    private static KeySchemaElement key(String attribute, KeyType type) {
        return KeySchemaElement.builder().attributeName(attribute).keyType(type).build();
    }

    private static GlobalSecondaryIndexDescription index(IndexStatus status) {
        return GlobalSecondaryIndexDescription.builder()
                .indexName("parked")
                .keySchema(key("parked", KeyType.HASH), key("parked_at", KeyType.RANGE))
                .indexStatus(status)
                .build();
    }

    private final class Describing implements DynamoDbAsyncClient {

        @Override
        public CompletableFuture<DescribeTableResponse> describeTable(DescribeTableRequest request) {
            return failure == null
                    ? CompletableFuture.completedFuture(
                            DescribeTableResponse.builder().table(table).build())
                    : CompletableFuture.failedFuture(failure);
        }

        @Override
        public CompletableFuture<DescribeTimeToLiveResponse> describeTimeToLive(DescribeTimeToLiveRequest request) {
            return CompletableFuture.completedFuture(DescribeTimeToLiveResponse.builder()
                    .timeToLiveDescription(ttl -> ttl.timeToLiveStatus(expiry).attributeName(expiryAttribute))
                    .build());
        }

        @Override
        public CompletableFuture<DescribeContinuousBackupsResponse> describeContinuousBackups(
                DescribeContinuousBackupsRequest request) {
            return recoveryFailure == null
                    ? CompletableFuture.completedFuture(DescribeContinuousBackupsResponse.builder()
                            .continuousBackupsDescription(backups -> backups.pointInTimeRecoveryDescription(
                                    pitr -> pitr.pointInTimeRecoveryStatus(recovery)))
                            .build())
                    : CompletableFuture.failedFuture(recoveryFailure);
        }

        @Override
        public String serviceName() {
            return "dynamodb";
        }

        @Override
        public void close() {}
    }
}
