package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The ends of a batch that are still to be written. Used by one thread. */
final class UnwrittenEnds {

    private static final Comparator<ClaimEnd> KEY_ORDER =
            Comparator.comparing(end -> end.claim().key());

    private final Set<ClaimId> recorded = new HashSet<>();
    private final Set<ClaimId> locked = new HashSet<>();
    private List<ClaimEnd> open;
    private int waits;

    UnwrittenEnds(List<ClaimEnd> ends) {
        this.open = ends.stream().sorted(KEY_ORDER).toList();
    }

    boolean isOpen() {
        return !open.isEmpty();
    }

    int openCount() {
        return open.size();
    }

    /** Returns what the next run may write, in key order: one end for each key, for no statement updates a row twice. */
    Map<ClaimKey, ClaimEnd> next() {
        Map<ClaimKey, ClaimEnd> firstOfKey = new TreeMap<>();
        open.forEach(end -> firstOfKey.putIfAbsent(end.claim().key(), end));
        return firstOfKey;
    }

    /** Notes what became of them; what was changed meanwhile, locked, or was not its key's turn, stays open. */
    void answered(Map<ClaimKey, ClaimEnd> tried, BatchReply answer, LockedRowWait rows) {
        List<ClaimId> claims = tried.values().stream().map(ClaimEnd::claim).toList();
        claims.stream().filter(answer::isRecorded).forEach(recorded::add);
        List<ClaimId> passed = claims.stream().filter(answer::isLocked).toList();
        locked.addAll(rows.stillLocked(passed, waits));
        waits += passed.isEmpty() ? 0 : 1;
        open = open.stream()
                .filter(end -> !end.equals(tried.get(end.claim().key()))
                        || answer.isChangedMeanwhile(end.claim())
                        || answer.isLocked(end.claim()))
                .filter(end -> !locked.contains(end.claim()))
                .toList();
    }

    /** Returns the claims whose rows stayed locked: whether they hold their keys is not known. */
    Set<ClaimId> locked() {
        return locked;
    }

    /** Returns the claims whose end is recorded. */
    Set<ClaimId> recorded() {
        return recorded;
    }
}
