package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ClaimItem.Status;
import io.exactlyonce.dynamodb.item.ClaimWrites;
import io.exactlyonce.dynamodb.request.ItemReader;
import io.exactlyonce.dynamodb.request.ItemWriter;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Claims as items of one table of DynamoDB, each written on a condition, many in one request. No thread waits inside: the methods
 * that return no future wait for one on the caller's thread.
 *
 * <p>Guaranteed: what {@link ClaimStore} guarantees, in one Region, for as long as a key's item exists. That a write of a claim
 * which lost its key changes nothing rests on conditions alone, and on no clock.
 *
 * <p>Not guaranteed: that a lease is over when a key is taken over, if the clocks of the service's front ends differ by more than
 * {@code exactly-once.dynamodb.clock-error}; anything in a global table with eventual consistency, or after a restore.
 */
public final class DynamoDbClaimStore implements ClaimStore, AsyncClaimStore {

    /** Largest result, in bytes of UTF-8: an item has at most 400 KB, with its key, names and reasons. */
    public static final int LARGEST_RESULT = 380 * 1024;

    /**
     * Most claims and ends that are worth putting together: two full requests. What waits behind them makes the next two full, and a
     * key that is throttled delays no more than these.
     */
    public static final int LARGEST_BATCH = 50;

    private final ItemWriter writer;
    private final ItemReader reader;
    private final ClaimWrites writes;
    private final LeaseClock clock;
    private final ClaimCalls calls;

    /**
     * @param writer writes to the table of claims
     * @param reader reads from it
     * @param writes what a claim's steps write
     * @param clock says whether leases are over
     */
    DynamoDbClaimStore(ItemWriter writer, ItemReader reader, ClaimWrites writes, LeaseClock clock) {
        this.writer = writer;
        this.reader = reader;
        this.writes = writes;
        this.clock = clock;
        this.calls = new ClaimCalls(writer, reader, clock, writes);
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return Answers.await(claimAsync(requests));
    }

    @Override
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
        return calls.claim(requests);
    }

    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> renewals) {
        Map<ClaimId, LeaseRenewal> once = new LinkedHashMap<>();
        renewals.forEach(renewal -> once.put(renewal.claim(), renewal));
        return Answers.await(renew(once).thenApply(EndAnswers::requireAnswers));
    }

    /** If answers contradict each other meanwhile, the ends that were written may be too early: they are written again. */
    private CompletableFuture<EndAnswers> renew(Map<ClaimId, LeaseRenewal> renewals) {
        boolean before = clock.isContradicted();
        return renewing()
                .run(renewals)
                .thenCompose(answers -> before || !clock.isContradicted()
                        ? CompletableFuture.completedFuture(answers)
                        : renewing().run(renewals));
    }

    /** A claim that a transaction of the application's has completed is no lost one: its handler only has not returned yet. */
    private EndCall<LeaseRenewal> renewing() {
        return new EndCall<>(
                writer,
                writes::renew,
                (renewal, item) -> item.isCompletedByTransaction() && item.belongsTo(renewal.claim()));
    }

    @Override
    public Set<ClaimId> end(List<? extends ClaimEnd> ends) {
        return Answers.await(endAsync(ends));
    }

    @Override
    public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
        return calls.end(ends);
    }

    /**
     * Fails for a result that does not fit into an item.
     *
     * @throws IllegalArgumentException if it is too large
     */
    static void requireStorable(@Nullable String result) {
        int bytes = result == null ? 0 : result.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LARGEST_RESULT) {
            throw new IllegalArgumentException(
                    ("The result (%d bytes) must have at most %d bytes, since an item of DynamoDB has at most 400 KB: keep it"
                                    + " elsewhere and return its place, or set exactly-once.claim.max-result-size to at most"
                                    + " 380KB")
                            .formatted(bytes, LARGEST_RESULT));
        }
    }

    @Override
    public ClaimBatch.Result apply(ClaimBatch batch) {
        return Answers.await(new BatchCall(calls, batch).run());
    }

    @Override
    public Map<ClaimKey, KeyState> look(Collection<ClaimKey> keys) {
        if (keys.isEmpty()) {
            Answers.await(reader.probe());
            return Map.of();
        }
        Map<String, ClaimItem> items =
                Answers.await(reader.look(keys.stream().map(ClaimKey::hash).toList()));
        Map<ClaimKey, KeyState> states = new HashMap<>();
        keys.forEach(key -> states.put(key, state(items.get(key.hash()))));
        return states;
    }

    private KeyState state(@Nullable ClaimItem item) {
        if (item == null || item.status() == Status.RELEASED) {
            return KeyState.FREE;
        }
        return switch (item.status()) {
            case COMPLETED -> KeyState.COMPLETED;
            case PARKED -> KeyState.PARKED;
            default ->
                clock.remainingMicros(item.pk(), item.mark(), item.leaseUntil(), item.leaseMicros()) <= 0
                        ? KeyState.FREE
                        : KeyState.HELD;
        };
    }

    /**
     * Always refused: DynamoDB knows no transaction that stays open.
     *
     * @throws UnsupportedOperationException with what to use instead
     */
    @Override
    public boolean fence(ClaimId claim) {
        throw new UnsupportedOperationException(
                "Claims are in DynamoDB, which shares no open transactions with applications, so"
                        + " fence() cannot work: put the item of DynamoDbCompletion.of(claim) into the handler's own transactWriteItems,"
                        + " or give Claim.fencingToken() to a system that refuses stale writers");
    }
}
