package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ClaimItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException;

/** Reads items of the claim table with strong consistency, and the index of parked items with eventual consistency. */
public final class ItemReader {

    /** Maximum number of keys in one request, as DynamoDB permits. */
    private static final int MOST_KEYS = 100;

    private final DynamoDbAsyncClient client;
    private final String table;
    private final Pauses pauses;

    /**
     * @param client DynamoDB client
     * @param table name of the claim table
     * @param pauses delays before keys are requested again, if DynamoDB left them unread
     */
    public ItemReader(DynamoDbAsyncClient client, String table, Pauses pauses) {
        this.client = client;
        this.table = table;
        this.pauses = pauses;
    }

    /** Returns the items of these keys, by partition key. Keys without an item are left out. */
    public CompletableFuture<Map<String, ClaimItem>> read(List<String> pks) {
        return PartiQl.inParts(pks, MOST_KEYS, part -> {
                    List<Map<String, AttributeValue>> keys =
                            part.stream().map(ItemReader::key).toList();
                    KeysAndAttributes wanted = KeysAndAttributes.builder()
                            .consistentRead(true)
                            .keys(keys)
                            .build();
                    return request(Map.of(table, wanted), new ArrayList<>(), 1);
                })
                .thenApply(items ->
                        items.stream().collect(Collectors.toMap(ClaimItem::pk, item -> item, (first, again) -> again)));
    }

    /** Reads an item that does not exist. The answer shows that DynamoDB responds, and measures its clock. */
    public CompletableFuture<?> probe() {
        return client.getItem(
                request -> request.tableName(table).key(key("no item")).consistentRead(true));
    }

    /**
     * Returns the keys of parked items, oldest first. The index may lag behind the table. An item that was just parked
     * may be missing. An item that an operator has just released or completed may still be there.
     *
     * @param after the {@link ClaimItem#parkedOrder} of the last item of the previous page
     * @param limit maximum number of items
     */
    public CompletableFuture<List<ClaimItem>> parked(String after, int limit) {
        return client.query(request -> request.tableName(table)
                        .indexName(ClaimItem.PARKED_INDEX)
                        .limit(limit)
                        .keyConditionExpression("#parked = :parked AND #at > :after")
                        .expressionAttributeNames(Map.of("#parked", ClaimItem.PARKED, "#at", ClaimItem.PARKED_AT))
                        .expressionAttributeValues(Map.of(
                                ":parked", AttributeValue.fromS(ClaimItem.PARTITION),
                                ":after", AttributeValue.fromS(after))))
                .thenApply(answer -> answer.items().stream().map(ClaimItem::new).toList());
    }

    /**
     * Returns the keys of parked items whose partition key begins with a prefix. Empty if no such item was found.
     *
     * <p>Reads pages of the index, newest items first, until a page contains such an item or {@code pages} pages are
     * read. A page has 1 MB, or some thousand items. This lookup never throttles claims, because the index has its own
     * throughput.
     */
    public CompletableFuture<List<ClaimItem>> parkedBeginning(String prefix, int pages) {
        return parkedBeginning(prefix, pages, Map.of());
    }

    private CompletableFuture<List<ClaimItem>> parkedBeginning(
            String prefix, int pages, Map<String, AttributeValue> from) {
        return client.query(request -> request.tableName(table)
                        .indexName(ClaimItem.PARKED_INDEX)
                        .scanIndexForward(false)
                        .exclusiveStartKey(from.isEmpty() ? null : from)
                        .keyConditionExpression("#parked = :parked")
                        .filterExpression("begins_with(#pk, :prefix)")
                        .expressionAttributeNames(Map.of("#parked", ClaimItem.PARKED, "#pk", ClaimItem.PK))
                        .expressionAttributeValues(Map.of(
                                ":parked", AttributeValue.fromS(ClaimItem.PARTITION),
                                ":prefix", AttributeValue.fromS(prefix))))
                .thenCompose(page -> page.items().isEmpty() && page.hasLastEvaluatedKey() && pages > 1
                        ? parkedBeginning(prefix, pages - 1, page.lastEvaluatedKey())
                        : CompletableFuture.completedFuture(
                                page.items().stream().map(ClaimItem::new).toList()));
    }

    private CompletableFuture<List<ClaimItem>> request(
            Map<String, KeysAndAttributes> wanted, List<ClaimItem> found, int attempt) {
        return client.batchGetItem(request -> request.requestItems(wanted)).thenCompose(answer -> {
            answer.responses().getOrDefault(table, List.of()).forEach(item -> found.add(new ClaimItem(item)));
            if (answer.unprocessedKeys().isEmpty()) {
                return CompletableFuture.completedFuture(found);
            }
            if (attempt > Pauses.ATTEMPTS) {
                return CompletableFuture.failedFuture(ProvisionedThroughputExceededException.builder()
                        .message("Keys were left unread %d times".formatted(attempt))
                        .build());
            }
            return pauses.after(attempt).thenCompose(over -> request(answer.unprocessedKeys(), found, attempt + 1));
        });
    }

    private static Map<String, AttributeValue> key(String pk) {
        return Map.of(ClaimItem.PK, AttributeValue.fromS(pk));
    }
}
