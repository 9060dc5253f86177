package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one run of the {@link BatchStatement} did and saw: its rows are read first, and asked for afterwards. What no row
 * speaks of was done: the counts must say the same. Used by one thread.
 */
final class BatchReply {

    private final List<ClaimEnd> ends;
    private final List<ClaimRequest> claims;
    private final Map<ClaimId, Acquired> claimed = new HashMap<>();

    /** The rows of the keys that were not inserted; {@code null} for one that is younger than the statement. */
    private final Map<ClaimKey, @Nullable ClaimRow> met = new HashMap<>();

    /** What kept claims from their ends, in the statement's words. */
    private final Map<ClaimId, String> notEnded = new HashMap<>();

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
            case "met" -> {
                ClaimKey key = claims.get(number - 1).key();
                met.put(key, row.getString("status") == null ? null : ClaimRow.read(row, key));
            }
            default -> notEnded.put(ends.get(number - 1).claim(), what);
        }
    }

    /** All rows are read: what none speaks of was done. */
    BatchReply complete() {
        requireAll("ends", ends.size(), endedCount + notEnded.size());
        requireAll("claims", claims.size(), claimedCount + met.size());
        claims.stream()
                .filter(request -> !met.containsKey(request.key()))
                .forEach(request -> claimed.put(request.id(), new Acquired(1, token, false)));
        return this;
    }

    private static void requireAll(String what, int asked, int answered) {
        if (answered != asked) {
            throw new IllegalStateException(
                    "PostgreSQL answered %d of %d %s of a batch".formatted(answered, asked, what));
        }
    }

    /** Returns whether a claim's end was written, if this run was to write it. */
    boolean isRecorded(ClaimId claim) {
        return !notEnded.containsKey(claim);
    }

    /** Returns whether another transaction kept a claim's row locked, so that nothing was written, and nothing is known. */
    boolean isLocked(ClaimId claim) {
        return "passed".equals(notEnded.get(claim));
    }

    /** Returns whether a claim holds its key, but could not be ended by this run. */
    boolean isChangedMeanwhile(ClaimId claim) {
        return "changed".equals(notEnded.get(claim));
    }

    @Nullable Acquired claimed(ClaimId claim) {
        return claimed.get(claim);
    }

    /** Returns the row of a key that was not inserted, or {@code null} if it is younger than the statement. */
    @Nullable ClaimRow met(ClaimKey key) {
        return met.get(key);
    }
}
