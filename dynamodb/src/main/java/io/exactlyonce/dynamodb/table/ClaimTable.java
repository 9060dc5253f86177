package io.exactlyonce.dynamodb.table;

import io.exactlyonce.boundary.AwsText;
import io.exactlyonce.dynamodb.item.ClaimItem;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.retry.ClockSkew;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableResponse;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndexDescription;
import software.amazon.awssdk.services.dynamodb.model.IndexStatus;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.MultiRegionConsistency;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

/** Creates and checks the claim table, before the first claim. */
public final class ClaimTable {

    private static final Logger log = LoggerFactory.getLogger(ClaimTable.class);

    private static final List<KeySchemaElement> KEY = List.of(key(ClaimItem.PK, KeyType.HASH));
    private static final List<KeySchemaElement> INDEX_KEY =
            List.of(key(ClaimItem.PARKED, KeyType.HASH), key(ClaimItem.PARKED_AT, KeyType.RANGE));
    private static final String STATEMENTS = "dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate";
    private static final Set<TableStatus> USABLE = Set.of(TableStatus.ACTIVE, TableStatus.UPDATING);
    private static final Set<IndexStatus> USABLE_INDEX = Set.of(IndexStatus.ACTIVE, IndexStatus.UPDATING);
    private static final Set<TimeToLiveStatus> EXPIRING = Set.of(TimeToLiveStatus.ENABLED, TimeToLiveStatus.ENABLING);

    private final DynamoDbAsyncClient client;
    private final String name;

    /**
     * @param client DynamoDB client
     * @param name the table's name
     */
    public ClaimTable(DynamoDbAsyncClient client, String name) {
        this.client = client;
        this.name = name;
    }

    /**
     * Creates the table if it is missing, with on-demand billing, its index and TTL. Waits until the table is usable,
     * even if another instance creates it. Point-in-time recovery stays off, because it costs money. Deletion
     * protection stays off, because it hinders tests.
     *
     * @throws ClaimTableException if the table cannot be created, or if DynamoDB did not report whether it exists
     */
    public void createIfMissing() {
        if (!isToBeCreated()) {
            return;
        }
        try {
            create();
        } catch (RuntimeException failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            throw unusable(
                    "cannot be created: " + AwsText.messageOf(cause),
                    "allow dynamodb:CreateTable and dynamodb:UpdateTimeToLive, or create it as docs/dynamodb.md says and set"
                            + " exactly-once.dynamodb.initialize-schema=never",
                    cause);
        }
    }

    private void create() {
        boolean isOurs = isCreated();
        client.waiter().waitUntilTableExists(table -> table.tableName(name)).join();
        if (isOurs) {
            client.updateTimeToLive(ttl -> ttl.tableName(name)
                            .timeToLiveSpecification(set ->
                                    set.attributeName(ClaimItem.EXPIRES_AT).enabled(true)))
                    .join();
        }
    }

    /** Returns whether the table is missing, or another instance is just creating it. */
    private boolean isToBeCreated() {
        try {
            return describe().table().tableStatus() == TableStatus.CREATING;
        } catch (ClaimTableException failure) {
            if (failure.getCause() instanceof ResourceNotFoundException) {
                return true;
            }
            throw failure;
        }
    }

    /**
     * Creates the table, and returns true. Returns false if another instance is creating it. That instance also sets
     * the TTL.
     */
    private boolean isCreated() {
        try {
            client.createTable(table -> table.tableName(name)
                            .billingMode(BillingMode.PAY_PER_REQUEST)
                            .attributeDefinitions(text(ClaimItem.PK), text(ClaimItem.PARKED), text(ClaimItem.PARKED_AT))
                            .keySchema(KEY)
                            .globalSecondaryIndexes(GlobalSecondaryIndex.builder()
                                    .indexName(ClaimItem.PARKED_INDEX)
                                    .keySchema(INDEX_KEY)
                                    .projection(projected -> projected.projectionType(ProjectionType.KEYS_ONLY))
                                    .build()))
                    .join();
            return true;
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof ResourceInUseException) {
                return false;
            }
            throw failure;
        }
    }

    private static AttributeDefinition text(String attribute) {
        return AttributeDefinition.builder()
                .attributeName(attribute)
                .attributeType(ScalarAttributeType.S)
                .build();
    }

    private static KeySchemaElement key(String attribute, KeyType type) {
        return KeySchemaElement.builder().attributeName(attribute).keyType(type).build();
    }

    /**
     * Checks the table. Settings that would break a guarantee fail startup. Risky settings are logged at WARN.
     *
     * @return the risky settings, with their fixes
     * @throws ClaimTableException if the table cannot keep claims
     */
    public List<String> require() {
        DescribeTableResponse described = describe();
        TableDescription table = described.table();
        require(USABLE.contains(table.tableStatus()), "is " + table.tableStatusAsString(), "start when it is ACTIVE");
        require(
                table.keySchema().equals(KEY),
                "has the key %s, and claims need the partition key pk alone".formatted(table.keySchema()),
                "create another table as docs/dynamodb.md says: a table's key cannot be changed");
        requireIndex(table);
        // Each Region of a global table checks conditions on its own copy. With eventual consistency, two Regions could
        // give one key to two workers.
        require(
                table.replicas().isEmpty() || table.multiRegionConsistency() == MultiRegionConsistency.STRONG,
                "is a global table with eventual consistency, where two Regions can both acquire a key",
                "use a table of one Region, or a global table with strong consistency (MRSC)");
        List<String> warnings = new ArrayList<>();
        examineExpiry(warnings);
        if (!Boolean.TRUE.equals(table.deletionProtectionEnabled())) {
            warnings.add("deletion protection is off; without the table every key runs again: turn it on");
        }
        requireStatements(described.sdkHttpResponse());
        warnings.forEach(warning -> log.warn("Claim table {}: {}", name, warning));
        return warnings;
    }

    private void require(boolean holds, String problem, String remedy) {
        if (!holds) {
            throw unusable(problem, remedy, null);
        }
    }

    private ClaimTableException unusable(String problem, String remedy, @Nullable Throwable cause) {
        return new ClaimTableException("table %s %s".formatted(name, problem), remedy, cause);
    }

    private DescribeTableResponse describe() {
        return ask("dynamodb:DescribeTable", client.describeTable(table -> table.tableName(name)));
    }

    private <T> T ask(String action, CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            if (cause instanceof ResourceNotFoundException) {
                throw unusable(
                        "does not exist in this account and Region",
                        "create it as docs/dynamodb.md says, or set exactly-once.dynamodb.initialize-schema=always; if it"
                                + " exists, check spring.cloud.aws.region and exactly-once.dynamodb.table-name",
                        cause);
            }
            throw unusable(
                    "cannot be used: " + AwsText.messageOf(cause),
                    "allow " + action + " as docs/dynamodb.md lists it, and check endpoint, Region and credentials",
                    cause);
        }
    }

    private void requireIndex(TableDescription table) {
        GlobalSecondaryIndexDescription index = table.globalSecondaryIndexes().stream()
                .filter(each -> each.indexName().equals(ClaimItem.PARKED_INDEX))
                .findFirst()
                .orElseThrow(() -> unusable(
                        "has no index parked, by which parked claims are found",
                        "add it as docs/dynamodb.md says",
                        null));
        require(
                index.keySchema().equals(INDEX_KEY),
                "has an index parked with the key " + index.keySchema(),
                "delete it, and add it with the keys parked and parked_at");
        require(
                USABLE_INDEX.contains(index.indexStatus()),
                "has an index parked that is " + index.indexStatusAsString(),
                "start when it is ACTIVE");
    }

    private void examineExpiry(List<String> warnings) {
        TimeToLiveDescription expiry = ask(
                        "dynamodb:DescribeTimeToLive", client.describeTimeToLive(request -> request.tableName(name)))
                .timeToLiveDescription();
        if (EXPIRING.contains(expiry.timeToLiveStatus())) {
            require(
                    ClaimItem.EXPIRES_AT.equals(expiry.attributeName()),
                    "deletes items by the attribute %s, so claims may be forgotten within their retention"
                            .formatted(expiry.attributeName()),
                    "set its TTL to the attribute expires_at");
        } else {
            warnings.add("TTL is %s, so no claim is ever deleted: enable it on the attribute expires_at"
                    .formatted(expiry.timeToLiveStatusAsString()));
        }
    }

    /**
     * Checks that the permissions suffice for claims, so that a missing permission is reported at startup. Writes one
     * item that is not a claim. The item expires at once, so TTL deletes it soon.
     */
    private void requireStatements(SdkHttpResponse described) {
        long now =
                ClockSkew.getServerTime(described).map(Instant::getEpochSecond).orElse(0L);
        List<BatchStatementRequest> statements = List.of(
                statement("INSERT INTO \"%s\" VALUE {'pk':'start-up check','expires_at':" + now + "}"),
                statement("UPDATE \"%s\" SET \"w\"='1' WHERE \"pk\"='no item' AND \"w\"='0'"));
        for (BatchStatementResponse each : ask(
                        STATEMENTS, client.batchExecuteStatement(request -> request.statements(statements)))
                .responses()) {
            require(
                    each.error() == null || each.error().code() != BatchStatementErrorCodeEnum.ACCESS_DENIED,
                    "cannot be written: IAM denies PartiQL statements",
                    "allow %s on it, as docs/dynamodb.md lists them".formatted(STATEMENTS));
        }
    }

    private BatchStatementRequest statement(String text) {
        return BatchStatementRequest.builder().statement(text.formatted(name)).build();
    }
}
