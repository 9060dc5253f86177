package io.exactlyonce.dynamodb.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
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
import software.amazon.awssdk.services.dynamodb.model.ReplicaDescription;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

/**
 * Tests descriptions of tables by AWS: each defect that fails startup, and each setting that only deserves a warning.
 */
class TableAuditTests {

    private TableDescription table = TableDescription.builder()
            .tableStatus(TableStatus.ACTIVE)
            .keySchema(key("pk", KeyType.HASH))
            .globalSecondaryIndexes(index(IndexStatus.ACTIVE))
            .deletionProtectionEnabled(true)
            .build();
    private TimeToLiveStatus expiry = TimeToLiveStatus.ENABLED;
    private @Nullable String expiryAttribute = "expires_at";
    private List<BatchStatementResponse> answers = List.of();
    private @Nullable RuntimeException failure;
    private @Nullable RuntimeException statementFailure;

    @Test
    void tableAsDocumentedIsTaken() {
        assertThat(audit()).isEmpty();
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

        assertThat(audit()).isEmpty();
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

        assertRefused("table claims has an index parked with the key", "parked and parked_at");
    }

    @Test
    void indexThatIsNotReadyIsRefused() {
        change(table -> table.globalSecondaryIndexes(index(IndexStatus.CREATING)));

        assertRefused("table claims has an index parked that is CREATING", "start when it is ACTIVE");
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

        assertThat(audit()).isEmpty();
    }

    @Test
    void deletionByAnotherAttributeIsRefused() {
        expiryAttribute = "completed_at";

        assertRefused("deletes items by the attribute completed_at", "expires_at");
    }

    @Test
    void missingExpiryIsReported() {
        expiry = TimeToLiveStatus.DISABLED;

        assertWarned("TTL is DISABLED");
    }

    @Test
    void expiryThatIsJustBeingEnabledIsTaken() {
        expiry = TimeToLiveStatus.ENABLING;

        assertThat(audit()).isEmpty();
    }

    @Test
    void missingProtectionIsReported() {
        change(table -> table.deletionProtectionEnabled(false));

        assertWarned("deletion protection is off");
    }

    /** The right is missing for the whole request or for one statement. */
    @Test
    void rightsToStatementsThatAreMissingAreRefused() {
        statementFailure = (RuntimeException)
                DynamoDbException.builder().message("no right to do so").build();
        assertRefused("no right to do so", "allow dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate");

        statementFailure = null;
        answers = List.of(
                refusal(BatchStatementErrorCodeEnum.DUPLICATE_ITEM),
                refusal(BatchStatementErrorCodeEnum.ACCESS_DENIED));
        assertRefused("table claims cannot be written", "allow dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate");
    }

    /** The first statement is refused at every startup but the first, and the second statement always. */
    @Test
    void statementsThatChangeNothingAreTaken() {
        answers = List.of(
                refusal(BatchStatementErrorCodeEnum.DUPLICATE_ITEM),
                refusal(BatchStatementErrorCodeEnum.CONDITIONAL_CHECK_FAILED));

        assertThat(audit()).isEmpty();
    }

    private static BatchStatementResponse refusal(BatchStatementErrorCodeEnum code) {
        return BatchStatementResponse.builder().error(error -> error.code(code)).build();
    }

    private List<String> audit() {
        return new ClaimTable(new Describing(), "claims").require();
    }

    private void change(Consumer<TableDescription.Builder> change) {
        table = table.copy(change);
    }

    private void assertRefused(String problem, String remedy) {
        assertThatThrownBy(() -> audit()).isInstanceOfSatisfying(ClaimTableException.class, refused -> {
            assertThat(refused.problem()).contains(problem);
            assertThat(refused.remedy()).contains(remedy);
        });
    }

    private void assertWarned(String warning) {
        assertThat(audit()).singleElement().asString().contains(warning);
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
                    ? CompletableFuture.completedFuture((DescribeTableResponse) DescribeTableResponse.builder()
                            .table(table)
                            .sdkHttpResponse(SdkHttpResponse.builder().build())
                            .build())
                    : CompletableFuture.failedFuture(failure);
        }

        @Override
        public CompletableFuture<DescribeTimeToLiveResponse> describeTimeToLive(DescribeTimeToLiveRequest request) {
            return CompletableFuture.completedFuture(DescribeTimeToLiveResponse.builder()
                    .timeToLiveDescription(ttl -> ttl.timeToLiveStatus(expiry).attributeName(expiryAttribute))
                    .build());
        }

        @Override
        public CompletableFuture<BatchExecuteStatementResponse> batchExecuteStatement(
                BatchExecuteStatementRequest request) {
            return statementFailure == null
                    ? CompletableFuture.completedFuture(BatchExecuteStatementResponse.builder()
                            .responses(answers)
                            .build())
                    : CompletableFuture.failedFuture(statementFailure);
        }

        @Override
        public String serviceName() {
            return "dynamodb";
        }

        @Override
        public void close() {}
    }
}
