package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimResolution.Released;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Action;
import io.exactlyonce.claim.KeySnapshot.Decision;
import io.exactlyonce.claim.KeyStatus;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A batch of requests and resolutions that is being written. Keeps those that have no result yet, in key order, and the
 * results so far. Only one thread may use an instance.
 */
final class OpenBatch {

    private final ClaimBatch batch;
    private final List<ClaimResolution> resolutions;
    private final List<ClaimRequest> claims;
    private final Set<ClaimId> recorded = new HashSet<>();
    private final Map<UUID, ClaimOutcome> outcomes = new HashMap<>();

    /** The rows that the previous round read, by which {@link #decide} detects locked rows. */
    private Map<ClaimKey, KeySnapshot> before = Map.of();

    OpenBatch(ClaimBatch batch) {
        this.batch = batch;
        this.resolutions = new ArrayList<>(batch.resolutions());
        this.claims = new ArrayList<>(batch.claims());
        resolutions.sort(Comparator.comparing(resolution -> resolution.claim().key()));
        claims.sort(Comparator.comparing(ClaimRequest::key));
    }

    boolean isLeft() {
        return !resolutions.isEmpty() || !claims.isEmpty();
    }

    List<ClaimResolution> resolutions() {
        return resolutions;
    }

    List<ClaimRequest> claims() {
        return claims;
    }

    List<ClaimKey> keys() {
        return Stream.concat(
                        resolutions.stream()
                                .map(resolution -> resolution.claim().key()),
                        claims.stream().map(ClaimRequest::key))
                .toList();
    }

    /** Records the resolutions that were written. */
    void ended(Set<UUID> written) {
        for (ClaimResolution resolution : resolutions) {
            if (written.contains(resolution.claim().value())) {
                recorded.add(resolution.claim());
            }
        }
        resolutions.removeIf(resolution -> recorded.contains(resolution.claim()));
    }

    /**
     * Records the requests that inserted the first claim of their key.
     *
     * @param row the claim id and fencing token of each new row
     */
    void claimed(ResultSet row) throws SQLException {
        while (row.next()) {
            outcomes.put(row.getObject(1, UUID.class), new Acquired(1, row.getLong(2), false));
        }
        forgetDecided();
    }

    /**
     * Decides on each open request and resolution by the row of its key.
     *
     * <p>The previous round writes each row that may be taken over, unless another transaction has locked the row. A
     * row that is still as it was read was locked. The batch does not wait for such a lock, and answers the request as
     * held elsewhere.
     *
     * @param rows the rows that were read; if a key has no row, its request stays open
     * @return the requests that can now be written; two of them never take over the same key
     */
    List<KeyWrite> decide(Map<ClaimKey, KeySnapshot> rows) {
        resolutions.removeIf(
                resolution -> isDecided(resolution, rows.get(resolution.claim().key())));
        List<KeyWrite> writable = new ArrayList<>();
        Set<ClaimKey> free = new HashSet<>();
        for (ClaimRequest request : claims) {
            KeySnapshot row = rows.get(request.key());
            if (row == null) {
                continue;
            }
            Decision decision = row.decide(request);
            if (decision.action() == Action.REFUSE) {
                outcomes.put(request.claimId(), decision.outcome());
            } else if (decision.action() == Action.RENEW) {
                writable.add(new KeyWrite(request, row, decision));
            } else if (isUnchanged(row, before.get(request.key()))) {
                outcomes.put(request.claimId(), new HeldElsewhere(Duration.ZERO));
            } else if (free.add(request.key())) {
                writable.add(new KeyWrite(request, row, decision));
            }
        }
        before = rows;
        forgetDecided();
        return writable;
    }

    private static boolean isUnchanged(KeySnapshot row, @Nullable KeySnapshot before) {
        return before != null && row.claimId().equals(before.claimId()) && row.status() == before.status();
    }

    /**
     * Returns whether a resolution needs no further try. Either it was written before, or its claim does not hold the
     * key any more.
     */
    private boolean isDecided(ClaimResolution resolution, @Nullable KeySnapshot row) {
        if (row == null || !row.claimId().equals(resolution.claim().value())) {
            return true;
        }
        if (!(resolution instanceof Released) && row.status() == PostgresClaimStore.status(resolution)) {
            recorded.add(resolution.claim()); // an earlier call wrote it
        }
        return row.status() != KeyStatus.HELD;
    }

    void answer(List<KeyWrite> keys, Set<UUID> written) {
        for (KeyWrite key : keys) {
            if (written.contains(key.request().claimId())) {
                outcomes.put(key.request().claimId(), key.decision().outcome());
            }
        }
        forgetDecided();
    }

    private void forgetDecided() {
        claims.removeIf(claim -> outcomes.containsKey(claim.claimId()));
    }

    /**
     * Returns the results of the batch after the last round. A request without a result counts as held elsewhere,
     * because other transactions were faster, or had the row locked. A resolution without a result counts as
     * unanswered.
     */
    ClaimBatch.Result result() {
        Set<ClaimId> unanswered = new HashSet<>();
        resolutions.forEach(resolution -> unanswered.add(resolution.claim()));
        List<ClaimOutcome> claimed = new ArrayList<>(batch.claims().size());
        for (ClaimRequest claim : batch.claims()) {
            claimed.add(outcomes.getOrDefault(claim.claimId(), new HeldElsewhere(Duration.ZERO)));
        }
        return new ClaimBatch.Result(new ClaimAnswers(recorded, unanswered, null), claimed);
    }
}
