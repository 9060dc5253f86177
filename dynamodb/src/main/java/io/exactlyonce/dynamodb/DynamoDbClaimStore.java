package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.DynamoDbClaims.await;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.item.ClaimItem;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Stores claims in one DynamoDB table, with many conditional writes in one request. A call blocks only the calling
 * thread, until the answers arrive.
 *
 * <p>Guaranteed, within one Region: everything that {@link ClaimStore} guarantees, until the key's item is deleted.
 * Every write has a condition that depends on no clock. So a claim that lost its key changes nothing.
 *
 * <p>Not guaranteed:
 *
 * <ul>
 *   <li>If the clocks of DynamoDB's front ends differ by more than {@code exactly-once.dynamodb.clock-error}, a key may
 *       be taken over before its lease has expired.
 *   <li>In a global table with eventual consistency, or after the table was restored from a backup, nothing is
 *       guaranteed. For example, a completed key may be acquired again.
 * </ul>
 */
public final class DynamoDbClaimStore implements ClaimStore {

    /**
     * Maximum size of a result, in bytes of UTF-8. DynamoDB permits items of up to 400 KB. The other 20 KB are for the
     * item's other attributes and all attribute names.
     */
    public static final int LARGEST_RESULT = 380 * 1024;

    /**
     * Maximum size of a batch: two full requests. If DynamoDB throttles one key, all calls of the batch wait, so a
     * larger batch would delay more calls.
     */
    public static final int LARGEST_BATCH = 50;

    private final DynamoDbClaims table;

    DynamoDbClaimStore(DynamoDbClaims table) {
        this.table = table;
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return apply(new ClaimBatch(List.of(), requests)).claimed();
    }

    @Override
    public ClaimAnswers renew(List<LeaseRenewal> renewals) {
        Map<ClaimKey, KeyWork> works = new LinkedHashMap<>();
        renewals.forEach(renewal -> work(works, renewal.claim().key()).renew(renewal));
        table.run(works.values());
        return KeyWork.answers(works.values());
    }

    @Override
    public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
        Map<ClaimKey, KeyWork> works = new LinkedHashMap<>();
        end(works, resolutions);
        table.run(works.values());
        return KeyWork.answers(works.values());
    }

    /** Writes resolutions and claims in the same requests. */
    @Override
    public ClaimBatch.Result apply(ClaimBatch batch) {
        Map<ClaimKey, KeyWork> works = new LinkedHashMap<>();
        end(works, batch.resolutions());
        batch.claims().forEach(request -> work(works, request.key()).claim(request));
        table.run(works.values());
        List<ClaimOutcome> outcomes = new ArrayList<>(batch.claims().size());
        for (ClaimRequest request : batch.claims()) {
            outcomes.add(work(works, request.key()).outcome());
        }
        return new ClaimBatch.Result(KeyWork.answers(works.values()), outcomes);
    }

    /**
     * Prepares the writes of all resolutions. If a result is too large, throws before anything is sent. The caller can
     * then repeat the call without that result.
     */
    private void end(Map<ClaimKey, KeyWork> works, List<? extends ClaimResolution> resolutions) {
        for (ClaimResolution resolution : resolutions) {
            if (resolution instanceof ClaimResolution.Completed completed) {
                requireStorable(completed.result());
            }
            work(works, resolution.claim().key()).resolve(resolution);
        }
    }

    private KeyWork work(Map<ClaimKey, KeyWork> works, ClaimKey key) {
        return works.computeIfAbsent(key, of -> new KeyWork(of, table));
    }

    /**
     * Checks that a result fits into an item.
     *
     * @throws IllegalArgumentException if the result is too large
     */
    static void requireStorable(@Nullable String result) {
        int bytes = result == null ? 0 : result.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LARGEST_RESULT) {
            throw new IllegalArgumentException(
                    ("The result (%d bytes) must have at most %d bytes, because a DynamoDB item has at most 400 KB: store it"
                                    + " elsewhere and return a reference, or set exactly-once.claim.max-result-size to at most"
                                    + " 380KB")
                            .formatted(bytes, LARGEST_RESULT));
        }
    }

    @Override
    public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        if (keys.isEmpty()) {
            table.probe();
            return Map.of();
        }
        Map<ClaimKey, String> pks = new HashMap<>();
        keys.forEach(key -> pks.put(key, key.downstreamKey()));
        Map<String, ClaimItem> items = await(table.reader.read(List.copyOf(pks.values())));
        Map<ClaimKey, KeyState> states = new HashMap<>();
        pks.forEach((key, pk) -> states.put(key, state(items.get(pk))));
        return states;
    }

    private KeyState state(@Nullable ClaimItem item) {
        if (item == null) {
            return KeyState.FREE;
        }
        try {
            return item.snapshot(table.clock, 0).state();
        } catch (RuntimeException unreadable) {
            // An unreadable item counts as a free key, so that the lookup of other keys does not fail. The next claim
            // of the key fails, and reports why the item cannot be read.
            return KeyState.FREE;
        }
    }

    @Override
    public String insteadOfFence() {
        return "put the item of DynamoDbCompletion.of(claim) into the handler's own transactWriteItems, or give"
                + " Claim.fencingToken() to a system that refuses stale writers";
    }
}
