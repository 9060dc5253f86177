package io.exactlyonce.dynamodb.testing;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.dynamodb.DynamoDbClaimStore;
import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.DynamoDbCompletion;
import io.exactlyonce.dynamodb.DynamoDbParkedClaims;
import io.exactlyonce.dynamodb.clock.ClockMode;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.exactlyonce.dynamodb.request.Pauses;
import io.exactlyonce.dynamodb.table.ClaimTable;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/** A store with a table of its own on DynamoDB Local, and ways to let its leases end. */
public final class StoreOnTable {

    public static final Duration ERROR = Duration.ofSeconds(2);
    private static final Duration RETENTION = Duration.ofDays(365);

    private final String table = "claims-" + UUID.randomUUID();
    private final ServiceClock time = new ServiceClock(System::nanoTime, ERROR);
    private final DynamoDbAsyncClient client;
    private final NanoClock nanos;
    private final DynamoDbClaims claims;

    private StoreOnTable(
            ClockMode mode,
            boolean dates,
            NanoClock nanos,
            UnaryOperator<DynamoDbAsyncClient> wrapping,
            ExecutionInterceptor... others) {
        this.nanos = nanos;
        Stream<ExecutionInterceptor> first = dates ? Stream.of(time) : Stream.empty();
        this.client = LocalDynamoDb.shared()
                .client(Stream.concat(first, Stream.of(others)).toArray(ExecutionInterceptor[]::new));
        new ClaimTable(client, table).createIfMissing();
        this.claims = claims(wrapping.apply(client), mode);
    }

    private DynamoDbClaims claims(DynamoDbAsyncClient of, ClockMode mode) {
        return new DynamoDbClaims(
                of,
                table,
                RETENTION,
                new LeaseClock(time, mode, ERROR, nanos),
                // The fake scheduler runs each task immediately, so no test waits for these pauses.
                Pauses.withFullJitter(new FakeScheduler()));
    }

    /** Returns another store on the same table. The client of this store is not wrapped. */
    public DynamoDbClaimStore unscripted() {
        return claims(client, ClockMode.SERVICE).store();
    }

    /** Returns a store that uses the service's time. */
    public static StoreOnTable create(ExecutionInterceptor... interceptors) {
        return new StoreOnTable(ClockMode.SERVICE, true, System::nanoTime, client -> client, interceptors);
    }

    /** Returns a store that cannot use the service's time, because a proxy removes the time from the answers. */
    public static StoreOnTable withoutDates(NanoClock nanos) {
        return new StoreOnTable(ClockMode.SERVICE, false, nanos, client -> client);
    }

    /** Returns a store without the service's time, whose client is wrapped. */
    public static StoreOnTable withoutDates(UnaryOperator<DynamoDbAsyncClient> wrapping) {
        return new StoreOnTable(ClockMode.SERVICE, false, System::nanoTime, wrapping);
    }

    /** Returns a store whose client is wrapped. */
    public static StoreOnTable wrapped(UnaryOperator<DynamoDbAsyncClient> wrapping) {
        return new StoreOnTable(ClockMode.SERVICE, true, System::nanoTime, wrapping);
    }

    /** Returns a store that ends leases by observation only. */
    public static StoreOnTable observing(NanoClock nanos) {
        return new StoreOnTable(ClockMode.OBSERVED, true, nanos, client -> client);
    }

    public DynamoDbClaimStore store() {
        return claims.store();
    }

    public DynamoDbParkedClaims parked() {
        return claims.parked();
    }

    public DynamoDbCompletion completion() {
        return claims.completion();
    }

    /** Returns the clock that measures the service's time. */
    public ServiceClock time() {
        return time;
    }

    public DynamoDbAsyncClient client() {
        return client;
    }

    public String table() {
        return table;
    }

    /** Returns a key's item. */
    public Map<String, AttributeValue> item(String pk) {
        return client.getItem(request -> request.tableName(table)
                        .key(Map.of("pk", AttributeValue.fromS(pk)))
                        .consistentRead(true))
                .join()
                .item();
    }

    /** Makes a claim's lease end now, unless the claim has lost its key. */
    public void endLease(ClaimId claim) {
        // The next answer may move the earliest time back by a second, because dates have whole seconds.
        long end = time.now().orElseThrow().earliestMicros()
                - ERROR.multipliedBy(2).toNanos() / 1000;
        try {
            client.updateItem(update -> update.tableName(table)
                            .key(Map.of("pk", AttributeValue.fromS(claim.key().downstreamKey())))
                            .updateExpression("SET lease_until = :end")
                            .conditionExpression("claim_id = :claim AND #status = :held")
                            .expressionAttributeNames(Map.of("#status", "status"))
                            .expressionAttributeValues(Map.of(
                                    ":end", number(end),
                                    ":claim", AttributeValue.fromS(claim.value().toString()),
                                    ":held", AttributeValue.fromS("HELD"))))
                    .join();
        } catch (CompletionException failure) {
            if (!(failure.getCause() instanceof ConditionalCheckFailedException)) {
                throw failure;
            }
        }
    }

    /** Makes the items of keys older. */
    public void age(List<ClaimKey> keys, Duration by) {
        CompletableFuture.allOf(keys.stream()
                        .map(key -> item(key.downstreamKey()))
                        .filter(item -> !item.isEmpty())
                        .map(item -> client.putItem(put -> put.tableName(table).item(older(item, by))))
                        .toArray(CompletableFuture[]::new))
                .join();
    }

    private static Map<String, AttributeValue> older(Map<String, AttributeValue> item, Duration by) {
        Map<String, AttributeValue> older = new HashMap<>(item);
        older.computeIfPresent("lease_until", (name, end) -> number(Long.parseLong(end.n()) - by.toNanos() / 1000));
        return older;
    }

    private static AttributeValue number(long value) {
        return AttributeValue.fromN(Long.toString(value));
    }
}
