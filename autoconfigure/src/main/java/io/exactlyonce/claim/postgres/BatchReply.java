package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one run of the {@link BatchStatement} did and saw: its rows are read first, and asked for afterwards. What no row
 * speaks of was done: the counts must say the same. Used by one thread.
 */
final class BatchReply {

    private final List<ClaimEnd> ends;
    private final List<ClaimRequest> claims;
    private final Set<ClaimId> recorded = new HashSet<>();
    private final Set<ClaimId> changedMeanwhile = new HashSet<>();
    private final Set<ClaimId> locked = new HashSet<>();
    private final Map<ClaimId, Acquired> claimed = new HashMap<>();
    private final Map<ClaimKey, ClaimRow> met = new HashMap<>();
    private final BitSet notEnded = new BitSet();
    private final BitSet notClaimed = new BitSet();
    private int endedCount;
    private int claimedCount;
    private long token;

    BatchReply(List<ClaimEnd> ends, List<ClaimRequest> claims) {
        this.ends = ends;
        this.claims = claims;
    }

    void read(ResultSet row) throws SQLException {
        int number = row.getInt("number");
        String what = row.getString("what");
        switch (what) {
            case "ended" -> endedCount = number;
            case "claimed" -> {
                claimedCount = number;
                token = row.getLong("fencing_token");
            }
            case "met" -> readMet(row, number - 1);
            default -> readNotEnded(what, number - 1);
        }
    }

    private void readMet(ResultSet row, int position) throws SQLException {
        notClaimed.set(position);
        if (row.getString("status") != null) {
            ClaimRow found = ClaimRow.read(row, claims.get(position).key());
            met.put(found.key(), found);
        }
    }

    private void readNotEnded(String what, int position) {
        notEnded.set(position);
        switch (what) {
            case "changed" -> changedMeanwhile.add(ends.get(position).claim());
            case "passed" -> locked.add(ends.get(position).claim());
            default -> {
                // Lost: in none of the sets.
            }
        }
    }

    /** All rows are read: what none speaks of was done. */
    BatchReply complete() {
        requireAll("ends", ends.size(), endedCount + notEnded.cardinality());
        requireAll("claims", claims.size(), claimedCount + notClaimed.cardinality());
        for (int i = notEnded.nextClearBit(0); i < ends.size(); i = notEnded.nextClearBit(i + 1)) {
            recorded.add(ends.get(i).claim());
        }
        for (int i = notClaimed.nextClearBit(0); i < claims.size(); i = notClaimed.nextClearBit(i + 1)) {
            claimed.put(claims.get(i).id(), new Acquired(1, token, false));
        }
        return this;
    }

    private static void requireAll(String what, int asked, int answered) {
        if (answered != asked) {
            throw new IllegalStateException(
                    "PostgreSQL answered %d of %d %s of a batch".formatted(answered, asked, what));
        }
    }

    boolean isRecorded(ClaimId claim) {
        return recorded.contains(claim);
    }

    /** Returns whether another transaction kept a claim's row locked, so that nothing was written, and nothing is known. */
    boolean isLocked(ClaimId claim) {
        return locked.contains(claim);
    }

    /** Returns whether a claim holds its key, but could not be ended by this run. */
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
