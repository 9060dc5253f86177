package io.exactlyonce.dynamodb.table;

import io.exactlyonce.dynamodb.item.ClaimItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndexDescription;
import software.amazon.awssdk.services.dynamodb.model.IndexStatus;
import software.amazon.awssdk.services.dynamodb.model.MultiRegionConsistency;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

/**
 * Looks at the table before the first claim. What would break a promise stops the start; what would cost sleep later is warned
 * of.
 */
public final class TableAudit {

    private static final Logger LOG = LoggerFactory.getLogger(TableAudit.class);

    private static final Set<TableStatus> USABLE = Set.of(TableStatus.ACTIVE, TableStatus.UPDATING);
    private static final Set<IndexStatus> USABLE_INDEX = Set.of(IndexStatus.ACTIVE, IndexStatus.UPDATING);
    private static final Set<TimeToLiveStatus> EXPIRING = Set.of(TimeToLiveStatus.ENABLED, TimeToLiveStatus.ENABLING);

    private final DynamoDbAsyncClient client;
    private final String name;

    /**
     * @param client of the service
     * @param name of the table
     */
    public TableAudit(DynamoDbAsyncClient client, String name) {
        this.client = client;
        this.name = name;
    }

    /**
     * Makes sure that claims can be kept.
     *
     * @return what should be mended, though claims can be kept
     * @throws ClaimTableException if they cannot
     */
    public List<String> require() {
        TableDescription table = describe();
        requireStatus(table);
        requireKey(table);
        requireIndex(table);
        requireOneWriter(table);
        TimeToLiveDescription expiry = ask(
                "dynamodb:DescribeTimeToLive",
                () -> client.describeTimeToLive(request -> request.tableName(name))
                        .join()
                        .timeToLiveDescription());
        List<String> warnings = new ArrayList<>();
        examine(expiry, warnings);
        if (!Boolean.TRUE.equals(table.deletionProtectionEnabled())) {
            warnings.add("deletion protection is off; without the table every key runs again: turn it on");
        }
        requireStatements();
        warnings.forEach(warning -> LOG.warn("Table of claims {}: {}", name, warning));
        return warnings;
    }

    private TableDescription describe() {
        return ask(
                "dynamodb:DescribeTable",
                () -> client.describeTable(request -> request.tableName(name))
                        .join()
                        .table());
    }

    private <T> T ask(String action, Supplier<T> question) {
        try {
            return question.get();
        } catch (CompletionException failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            if (cause instanceof ResourceNotFoundException) {
                throw new ClaimTableException(
                        "table %s does not exist in this account and Region".formatted(name),
                        "create it as docs/dynamodb.md says, or set exactly-once.dynamodb.initialize-schema=always; if it"
                                + " exists, check spring.cloud.aws.region and exactly-once.dynamodb.table-name",
                        cause);
            }
            throw new ClaimTableException(
                    "table %s cannot be used: %s".formatted(name, cause.getMessage()),
                    "allow " + action + " as docs/dynamodb.md lists it, and check endpoint, Region and credentials",
                    cause);
        }
    }

    private void requireStatus(TableDescription table) {
        if (!USABLE.contains(table.tableStatus())) {
            throw new ClaimTableException(
                    "table %s is %s".formatted(name, table.tableStatusAsString()), "start when it is ACTIVE", null);
        }
    }

    private void requireKey(TableDescription table) {
        if (!table.keySchema().equals(ClaimTable.KEY)) {
            throw new ClaimTableException(
                    "table %s has the key %s, and claims need the partition key %s alone"
                            .formatted(name, table.keySchema(), ClaimItem.PK),
                    "create another table as docs/dynamodb.md says: a table's key cannot be changed",
                    null);
        }
    }

    private void requireIndex(TableDescription table) {
        GlobalSecondaryIndexDescription index = table.globalSecondaryIndexes().stream()
                .filter(each -> each.indexName().equals(ClaimItem.PARKED_INDEX))
                .findFirst()
                .orElseThrow(() -> new ClaimTableException(
                        "table %s has no index %s, by which parked claims are found"
                                .formatted(name, ClaimItem.PARKED_INDEX),
                        "add it as docs/dynamodb.md says",
                        null));
        if (!index.keySchema().equals(ClaimTable.INDEX_KEY)) {
            throw new ClaimTableException(
                    "the index %s of table %s has the key %s"
                            .formatted(ClaimItem.PARKED_INDEX, name, index.keySchema()),
                    "delete it, and add it with the keys %s and %s".formatted(ClaimItem.PARKED, ClaimItem.PARKED_AT),
                    null);
        }
        if (!USABLE_INDEX.contains(index.indexStatus())) {
            throw new ClaimTableException(
                    "the index %s of table %s is %s"
                            .formatted(ClaimItem.PARKED_INDEX, name, index.indexStatusAsString()),
                    "start when it is ACTIVE",
                    null);
        }
    }

    /** Conditions are evaluated in the Region that is asked: without strong consistency two of them let two workers in. */
    private void requireOneWriter(TableDescription table) {
        if (table.hasReplicas()
                && !table.replicas().isEmpty()
                && table.multiRegionConsistency() != MultiRegionConsistency.STRONG) {
            throw new ClaimTableException(
                    "table %s is a global table with eventual consistency, where two Regions can both acquire a key"
                            .formatted(name),
                    "use a table of one Region, or a global table with strong consistency (MRSC)",
                    null);
        }
    }

    private void examine(TimeToLiveDescription expiry, List<String> warnings) {
        if (!EXPIRING.contains(expiry.timeToLiveStatus())) {
            warnings.add("TTL is %s, so no claim is ever deleted: enable it on the attribute %s"
                    .formatted(expiry.timeToLiveStatusAsString(), ClaimItem.EXPIRES_AT));
        } else if (!ClaimItem.EXPIRES_AT.equals(expiry.attributeName())) {
            throw new ClaimTableException(
                    "table %s deletes items by the attribute %s, so claims may be forgotten within their retention"
                            .formatted(name, expiry.attributeName()),
                    "set its TTL to the attribute " + ClaimItem.EXPIRES_AT,
                    null);
        }
    }

    /** Writes one item that is no claim, unless it is there, and changes none: a right that is missing shows here first. */
    private void requireStatements() {
        String rights = "dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate";
        List<BatchStatementRequest> statements = List.of(
                statement("INSERT INTO \"%s\" VALUE {'pk':'start-up check'}"),
                statement("UPDATE \"%s\" SET \"w\"='1' WHERE \"pk\"='no item' AND \"w\"='0'"));
        for (BatchStatementResponse each : ask(
                rights,
                () -> client.batchExecuteStatement(request -> request.statements(statements))
                        .join()
                        .responses())) {
            if (each.error() != null && each.error().code() == BatchStatementErrorCodeEnum.ACCESS_DENIED) {
                throw new ClaimTableException(
                        "table %s cannot be written: %s"
                                .formatted(name, each.error().message()),
                        "allow %s on it, as docs/dynamodb.md lists them".formatted(rights),
                        null);
            }
        }
    }

    private BatchStatementRequest statement(String text) {
        return BatchStatementRequest.builder().statement(text.formatted(name)).build();
    }
}
