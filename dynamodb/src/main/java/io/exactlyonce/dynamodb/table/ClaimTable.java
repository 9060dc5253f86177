package io.exactlyonce.dynamodb.table;

import io.exactlyonce.dynamodb.item.ClaimItem;
import java.util.List;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

/** The table of claims as it has to be. */
public final class ClaimTable {

    static final List<KeySchemaElement> KEY = List.of(key(ClaimItem.PK, KeyType.HASH));
    static final List<KeySchemaElement> INDEX_KEY =
            List.of(key(ClaimItem.PARKED, KeyType.HASH), key(ClaimItem.PARKED_AT, KeyType.RANGE));

    private final DynamoDbAsyncClient client;
    private final String name;

    /**
     * @param client of the service
     * @param name of the table
     */
    public ClaimTable(DynamoDbAsyncClient client, String name) {
        this.client = client;
        this.name = name;
    }

    /**
     * Makes the table unless it is there: paid by request, with its index and TTL, and without what costs more or hinders tests:
     * point-in-time recovery and protection from deletion. Waits until claims can be kept in it, also while another instance
     * makes it.
     *
     * @throws ClaimTableException if it cannot be made
     */
    public void createIfMissing() {
        try {
            create();
        } catch (RuntimeException failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            throw new ClaimTableException(
                    "table %s cannot be created: %s".formatted(name, cause.getMessage()),
                    "allow dynamodb:CreateTable and dynamodb:UpdateTimeToLive, or create it as docs/dynamodb.md says and set"
                            + " exactly-once.dynamodb.initialize-schema=never",
                    cause);
        }
    }

    private void create() {
        if (status() != TableStatus.CREATING) {
            return;
        }
        try {
            client.createTable(request()).join();
        } catch (RuntimeException failure) {
            // Another instance was faster.
            if (!(failure.getCause() instanceof ResourceInUseException)) {
                throw failure;
            }
        }
        client.waiter().waitUntilTableExists(request -> request.tableName(name)).join();
        expire();
    }

    /** Returns how far it is; a missing one is still to be created. */
    private TableStatus status() {
        try {
            return client.describeTable(request -> request.tableName(name))
                    .join()
                    .table()
                    .tableStatus();
        } catch (RuntimeException failure) {
            if (failure.getCause() instanceof ResourceNotFoundException) {
                return TableStatus.CREATING;
            }
            throw failure;
        }
    }

    /** A second call within the hour is refused, so it is asked first, and once more if another instance was faster. */
    private void expire() {
        if (expires()) {
            return;
        }
        try {
            client.updateTimeToLive(request -> request.tableName(name)
                            .timeToLiveSpecification(ttl ->
                                    ttl.attributeName(ClaimItem.EXPIRES_AT).enabled(true)))
                    .join();
        } catch (RuntimeException failure) {
            if (!expires()) {
                throw failure;
            }
        }
    }

    private boolean expires() {
        return client.describeTimeToLive(request -> request.tableName(name))
                        .join()
                        .timeToLiveDescription()
                        .timeToLiveStatus()
                != TimeToLiveStatus.DISABLED;
    }

    private CreateTableRequest request() {
        return CreateTableRequest.builder()
                .tableName(name)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(text(ClaimItem.PK), text(ClaimItem.PARKED), text(ClaimItem.PARKED_AT))
                .keySchema(KEY)
                .globalSecondaryIndexes(GlobalSecondaryIndex.builder()
                        .indexName(ClaimItem.PARKED_INDEX)
                        .keySchema(INDEX_KEY)
                        .projection(projection -> projection.projectionType(ProjectionType.KEYS_ONLY))
                        .build())
                .build();
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
}
