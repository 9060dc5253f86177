package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.BitSet;
import java.util.List;

/**
 * Reads what a run of the {@link BatchStatement} answers. What no row speaks of was done: the counts must say the same. Used
 * by one thread.
 */
final class BatchReply {

    private final List<ClaimEnd> ends;
    private final List<ClaimRequest> claims;
    private final BatchAnswer answer = new BatchAnswer();
    private final BitSet notEnded = new BitSet();
    private final BitSet notClaimed = new BitSet();
    private int ended;
    private int claimed;
    private long token;

    BatchReply(List<ClaimEnd> ends, List<ClaimRequest> claims) {
        this.ends = ends;
        this.claims = claims;
    }

    void read(ResultSet row) throws SQLException {
        int number = row.getInt("number");
        String what = row.getString("what");
        switch (what) {
            case "ended" -> ended = number;
            case "claimed" -> {
                claimed = number;
                token = row.getLong("fencing_token");
            }
            case "met" -> met(row, number - 1);
            default -> open(what, number - 1);
        }
    }

    private void met(ResultSet row, int position) throws SQLException {
        notClaimed.set(position);
        if (row.getString("status") != null) {
            answer.met(ClaimRow.read(row, claims.get(position).key()));
        }
    }

    private void open(String what, int position) {
        notEnded.set(position);
        switch (what) {
            case "changed" -> answer.ending(ends.get(position).claim(), false);
            case "passed" -> answer.locked(ends.get(position).claim());
            default -> {
                // Lost: not in the answer.
            }
        }
    }

    BatchAnswer answer() {
        requireAll("ends", ends.size(), ended + notEnded.cardinality());
        requireAll("claims", claims.size(), claimed + notClaimed.cardinality());
        for (int i = notEnded.nextClearBit(0); i < ends.size(); i = notEnded.nextClearBit(i + 1)) {
            answer.ending(ends.get(i).claim(), true);
        }
        for (int i = notClaimed.nextClearBit(0); i < claims.size(); i = notClaimed.nextClearBit(i + 1)) {
            answer.claimed(claims.get(i).id(), new Acquired(1, token, false));
        }
        return answer;
    }

    private static void requireAll(String what, int asked, int answered) {
        if (answered != asked) {
            throw new IllegalStateException(
                    "PostgreSQL answered %d of %d %s of a batch".formatted(answered, asked, what));
        }
    }
}
