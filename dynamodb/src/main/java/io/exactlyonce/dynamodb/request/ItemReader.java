package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.Names;
import io.exactlyonce.dynamodb.item.ParkedOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException;

/** Reads items as current as their writes, and the index of parked ones. */
public final class ItemReader {

    /** The service's limit. */
    private static final int MOST_KEYS = 100;

    private static final String NO_ITEM = "no item";

    private final DynamoDbAsyncClient client;
    private final String table;
    private final Pauses pauses;

    /**
     * @param client of the service
     * @param table the table of claims
     * @param pauses between attempts
     */
    public ItemReader(DynamoDbAsyncClient client, String table, Pauses pauses) {
        this.client = client;
        this.table = table;
        this.pauses = pauses;
    }

    /** Returns whole items by partition key, of those that there are. */
    public CompletableFuture<Map<String, ClaimItem>> read(Collection<String> pks) {
        return read(List.copyOf(pks), request -> request);
    }

    /** Returns as much of the items as tells how their keys stand. */
    public CompletableFuture<Map<String, ClaimItem>> look(Collection<String> pks) {
        return read(
                List.copyOf(pks),
                request -> request.projectionExpression(ClaimItem.PROJECTION)
                        .expressionAttributeNames(ClaimItem.PROJECTION_NAMES));
    }

    /** Asks for an item that is not there: whether the service answers, and when. */
    public CompletableFuture<Void> probe() {
        return client.getItem(request -> request.tableName(table)
                        .key(Map.of(Names.PK, AttributeValue.fromS(NO_ITEM)))
                        .consistentRead(true))
                .thenAccept(answer -> {});
    }

    /**
     * Returns the partition keys of parked items, the oldest first; an item that was parked or decided on a moment ago may be
     * missing, or still there.
     *
     * @param after a {@link ParkedOrder}
     * @param limit at most so many
     */
    public CompletableFuture<List<ClaimItem>> parked(String after, int limit) {
        return client.query(request -> request.tableName(table)
                        .indexName(Names.PARKED_INDEX)
                        .limit(limit)
                        .keyConditionExpression("#parked = :parked AND #at > :after")
                        .expressionAttributeNames(Map.of("#parked", Names.PARKED, "#at", Names.PARKED_AT))
                        .expressionAttributeValues(Map.of(
                                ":parked", AttributeValue.fromS(ParkedOrder.PARTITION),
                                ":after", AttributeValue.fromS(after))))
                .thenApply(answer -> answer.items().stream().map(ClaimItem::new).toList());
    }

    private CompletableFuture<Map<String, ClaimItem>> read(
            List<String> pks, UnaryOperator<KeysAndAttributes.Builder> what) {
        List<CompletableFuture<List<ClaimItem>>> requests = new ArrayList<>();
        for (int from = 0; from < pks.size(); from += MOST_KEYS) {
            List<Map<String, AttributeValue>> keys = pks.subList(from, Math.min(from + MOST_KEYS, pks.size())).stream()
                    .map(pk -> Map.of(Names.PK, AttributeValue.fromS(pk)))
                    .toList();
            KeysAndAttributes wanted = what.apply(
                            KeysAndAttributes.builder().consistentRead(true).keys(keys))
                    .build();
            requests.add(request(Map.of(table, wanted), 1));
        }
        return Futures.all(requests).thenApply(lists -> {
            Map<String, ClaimItem> found = new HashMap<>();
            lists.forEach(items -> items.forEach(item -> found.put(item.pk(), item)));
            return found;
        });
    }

    private CompletableFuture<List<ClaimItem>> request(Map<String, KeysAndAttributes> wanted, int attempt) {
        return client.batchGetItem(request -> request.requestItems(wanted)).thenCompose(answer -> {
            List<ClaimItem> items = answer.responses().getOrDefault(table, List.of()).stream()
                    .map(ClaimItem::new)
                    .toList();
            if (answer.unprocessedKeys().isEmpty()) {
                return CompletableFuture.completedFuture(items);
            }
            if (attempt > Pauses.ATTEMPTS) {
                return CompletableFuture.failedFuture(ProvisionedThroughputExceededException.builder()
                        .message("Keys were left unread %d times".formatted(attempt))
                        .build());
            }
            return pauses.before(attempt)
                    .thenCompose(over -> request(answer.unprocessedKeys(), attempt + 1))
                    .thenApply(more -> {
                        List<ClaimItem> all = new ArrayList<>(items);
                        all.addAll(more);
                        return all;
                    });
        });
    }
}
