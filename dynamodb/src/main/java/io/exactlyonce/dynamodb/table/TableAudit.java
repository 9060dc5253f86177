package io.exactlyonce.dynamodb.table;

import io.exactlyonce.dynamodb.item.ClaimItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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

    private static final String STATEMENTS = "dynamodb:PartiQLInsert and dynamodb:PartiQLUpdate";
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
        TableDescription table = ask("dynamodb:DescribeTable", client.describeTable(request -> request.tableName(name)))
                .table();
        require(
                USABLE.contains(table.tableStatus()),
                "table %s is %s".formatted(name, table.tableStatusAsString()),
                "start when it is ACTIVE");
        require(
                table.keySchema().equals(ClaimTable.KEY),
                "table %s has the key %s, and claims need the partition key pk alone"
                        .formatted(name, table.keySchema()),
                "create another table as docs/dynamodb.md says: a table's key cannot be changed");
        requireIndex(table);
        // Conditions are evaluated in the Region that is asked: without strong consistency two of them let two workers
        // in.
        require(
                table.replicas().isEmpty() || table.multiRegionConsistency() == MultiRegionConsistency.STRONG,
                "table %s is a global table with eventual consistency, where two Regions can both acquire a key"
                        .formatted(name),
                "use a table of one Region, or a global table with strong consistency (MRSC)");
        List<String> warnings = new ArrayList<>();
        examineExpiry(warnings);
        if (!Boolean.TRUE.equals(table.deletionProtectionEnabled())) {
            warnings.add("deletion protection is off; without the table every key runs again: turn it on");
        }
        requireStatements();
        warnings.forEach(warning -> LOG.warn("Table of claims {}: {}", name, warning));
        return warnings;
    }

    private static void require(boolean holds, String problem, String remedy) {
        if (!holds) {
            throw new ClaimTableException(problem, remedy, null);
        }
    }

    private <T> T ask(String action, CompletableFuture<T> answer) {
        try {
            return answer.join();
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

    private void requireIndex(TableDescription table) {
        GlobalSecondaryIndexDescription index = table.globalSecondaryIndexes().stream()
                .filter(each -> each.indexName().equals(ClaimItem.PARKED_INDEX))
                .findFirst()
                .orElseThrow(() -> new ClaimTableException(
                        "table %s has no index parked, by which parked claims are found".formatted(name),
                        "add it as docs/dynamodb.md says",
                        null));
        require(
                index.keySchema().equals(ClaimTable.INDEX_KEY),
                "the index parked of table %s has the key %s".formatted(name, index.keySchema()),
                "delete it, and add it with the keys parked and parked_at");
        require(
                USABLE_INDEX.contains(index.indexStatus()),
                "the index parked of table %s is %s".formatted(name, index.indexStatusAsString()),
                "start when it is ACTIVE");
    }

    private void examineExpiry(List<String> warnings) {
        TimeToLiveDescription expiry = ask(
                        "dynamodb:DescribeTimeToLive", client.describeTimeToLive(request -> request.tableName(name)))
                .timeToLiveDescription();
        if (EXPIRING.contains(expiry.timeToLiveStatus())) {
            require(
                    ClaimItem.EXPIRES_AT.equals(expiry.attributeName()),
                    "table %s deletes items by the attribute %s, so claims may be forgotten within their retention"
                            .formatted(name, expiry.attributeName()),
                    "set its TTL to the attribute expires_at");
        } else {
            warnings.add("TTL is %s, so no claim is ever deleted: enable it on the attribute expires_at"
                    .formatted(expiry.timeToLiveStatusAsString()));
        }
    }

    /** Writes one item that is no claim, unless it is there, and changes none: a right that is missing shows here first. */
    private void requireStatements() {
        List<BatchStatementRequest> statements = List.of(
                statement("INSERT INTO \"%s\" VALUE {'pk':'start-up check'}"),
                statement("UPDATE \"%s\" SET \"w\"='1' WHERE \"pk\"='no item' AND \"w\"='0'"));
        for (BatchStatementResponse each : ask(
                        STATEMENTS, client.batchExecuteStatement(request -> request.statements(statements)))
                .responses()) {
            require(
                    each.error() == null || each.error().code() != BatchStatementErrorCodeEnum.ACCESS_DENIED,
                    "table %s cannot be written: IAM denies PartiQL statements".formatted(name),
                    "allow %s on it, as docs/dynamodb.md lists them".formatted(STATEMENTS));
        }
    }

    private BatchStatementRequest statement(String text) {
        return BatchStatementRequest.builder().statement(text.formatted(name)).build();
    }
}
