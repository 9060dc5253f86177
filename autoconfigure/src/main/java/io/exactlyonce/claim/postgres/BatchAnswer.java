package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What one run of the {@link BatchStatement} did and saw. Used by one thread. */
final class BatchAnswer {

    private final Set<ClaimId> done = new HashSet<>();
    private final Set<ClaimId> changedMeanwhile = new HashSet<>();
    private final Set<ClaimId> locked = new HashSet<>();
    private final Map<ClaimId, Acquired> claimed = new HashMap<>();
    private final Map<ClaimKey, ClaimRow> met = new HashMap<>();

    void ending(ClaimId claim, boolean isDone) {
        (isDone ? done : changedMeanwhile).add(claim);
    }

    void locked(ClaimId claim) {
        locked.add(claim);
    }

    void claimed(ClaimId claim, Acquired outcome) {
        claimed.put(claim, outcome);
    }

    void met(ClaimRow row) {
        met.put(row.key(), row);
    }

    boolean isDone(ClaimId claim) {
        return done.contains(claim);
    }

    /** Tells whether somebody else kept a claim's row locked, so that nothing was written, and nothing is known. */
    boolean isLocked(ClaimId claim) {
        return locked.contains(claim);
    }

    /** Tells whether a claim holds its key, but could not be ended by this run. */
    boolean isChangedMeanwhile(ClaimId claim) {
        return changedMeanwhile.contains(claim);
    }

    @Nullable Acquired claimed(ClaimId claim) {
        return claimed.get(claim);
    }

    /** Returns the row of a key that was not inserted, or {@code null} if it is younger than the statement. */
    @Nullable ClaimRow met(ClaimKey key) {
        return met.get(key);
    }
}
