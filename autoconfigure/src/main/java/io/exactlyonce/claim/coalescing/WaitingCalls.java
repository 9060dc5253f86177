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
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;

/** Entries that wait for their batch, in the order in which they came, kind by kind. Not safe for threads: its queue's lock guards it. */
final class WaitingCalls {

    /** Most characters of a batch's results together, unless one alone has more. */
    private static final int MAX_WEIGHT = 4_000_000;

    private final int maxBatch;
    private final Map<Kind, Deque<PendingCall<?>>> calls = new EnumMap<>(Kind.class);

    WaitingCalls(int maxBatch) {
        this.maxBatch = maxBatch;
        for (Kind kind : Kind.values()) {
            calls.put(kind, new ArrayDeque<>());
        }
    }

    void add(List<? extends PendingCall<?>> entries) {
        entries.forEach(entry -> of(entry.kind()).add(entry));
    }

    /** Removes those that are not to wait any more. */
    List<PendingCall<?>> remove(Predicate<PendingCall<?>> which) {
        List<PendingCall<?>> removed =
                calls.values().stream().flatMap(Deque::stream).filter(which).toList();
        removed.forEach(entry -> of(entry.kind()).remove(entry));
        return removed;
    }

    /** Removes what may go together: ends before claims, and of a key that is on its way nothing more. */
    List<PendingCall<?>> removeBatch(Set<ClaimKey> onTheirWay) {
        List<PendingCall<?>> batch = new ArrayList<>();
        Set<ClaimKey> ofThisKind = new HashSet<>();
        int weight = 0;
        for (Deque<PendingCall<?>> kind : calls.values()) {
            for (Iterator<PendingCall<?>> each = kind.iterator(); each.hasNext() && batch.size() < maxBatch; ) {
                PendingCall<?> entry = each.next();
                boolean fits = batch.isEmpty() || weight + entry.weight() <= MAX_WEIGHT;
                boolean isFree = !onTheirWay.contains(entry.key())
                        || (entry.kind() == Kind.CLAIM && ofThisKind.contains(entry.key()));
                if (fits && isFree) {
                    each.remove();
                    onTheirWay.add(entry.key());
                    ofThisKind.add(entry.key());
                    weight += entry.weight();
                    batch.add(entry);
                }
            }
            ofThisKind.clear();
        }
        return batch;
    }

    /** Returns how long it takes until the first of them is overdue, in nanoseconds; empty if none waits. */
    OptionalLong untilFirstDeadline(long now) {
        return calls.values().stream()
                .flatMap(Deque::stream)
                .mapToLong(entry -> entry.deadline() - now)
                .min();
    }

    int count() {
        int count = 0;
        for (Deque<PendingCall<?>> kind : calls.values()) {
            count += kind.size();
        }
        return count;
    }

    int count(Kind kind) {
        return of(kind).size();
    }

    private Deque<PendingCall<?>> of(Kind kind) {
        return Objects.requireNonNull(calls.get(kind));
    }
}
