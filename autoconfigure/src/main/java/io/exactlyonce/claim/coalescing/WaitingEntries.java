package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.coalescing.PendingCall.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Entries that wait for a batch, and the rule which of them may go together. Used by one thread at a time.
 *
 * <p>Of one key there is one entry on its way to the store at a time, or several claims in one batch. So a release cannot
 * overtake the claim that it gives up, two flushers do not wait for each other's rows, and no batch ends a claim twice.
 */
final class WaitingEntries {

    /** Most characters of a batch's results together, unless one alone has more. */
    private static final int MAX_WEIGHT = 4_000_000;

    private final int maxBatch;
    private final Map<Kind, Deque<PendingCall>> byKind = new EnumMap<>(Kind.class);
    private final Set<ClaimKey> onTheirWay = new HashSet<>();

    WaitingEntries(int maxBatch) {
        this.maxBatch = maxBatch;
        for (Kind kind : Kind.values()) {
            byKind.put(kind, new ArrayDeque<>());
        }
    }

    void add(PendingCall entry) {
        Objects.requireNonNull(byKind.get(entry.kind())).add(entry);
    }

    List<PendingCall> all() {
        List<PendingCall> all = new ArrayList<>();
        byKind.values().forEach(all::addAll);
        return all;
    }

    /** Takes what may go now: ends before claims, those of a kind in the order in which they came. */
    List<PendingCall> take() {
        List<PendingCall> batch = new ArrayList<>();
        Set<ClaimKey> ofThisKind = new HashSet<>();
        int weight = 0;
        for (Deque<PendingCall> kind : byKind.values()) {
            for (Iterator<PendingCall> each = kind.iterator(); each.hasNext() && batch.size() < maxBatch; ) {
                PendingCall entry = each.next();
                boolean fits = batch.isEmpty() || weight + entry.weight() <= MAX_WEIGHT;
                if (!entry.isWaiting()) {
                    each.remove();
                } else if (fits && isFree(entry, ofThisKind)) {
                    each.remove();
                    if (entry.take()) {
                        onTheirWay.add(entry.key());
                        ofThisKind.add(entry.key());
                        weight += entry.weight();
                        batch.add(entry);
                    }
                }
            }
            ofThisKind.clear();
        }
        return batch;
    }

    private boolean isFree(PendingCall entry, Set<ClaimKey> ofThisKind) {
        return !onTheirWay.contains(entry.key()) || (entry.kind() == Kind.CLAIM && ofThisKind.contains(entry.key()));
    }

    /** Lets the next entries of a batch's keys go. */
    void returned(List<PendingCall> batch) {
        batch.forEach(entry -> onTheirWay.remove(entry.key()));
    }
}
