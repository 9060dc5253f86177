package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimResolution.Completed;
import io.exactlyonce.claim.postgres.ClaimRow.Status;
import io.exactlyonce.claim.postgres.Takeovers.FreeKey;
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

/** The undecided entries of a batch, in key order, and the results of the others. Used by one thread. */
final class OpenBatch {

    private final ClaimBatch batch;
    private final List<ClaimResolution> resolutions;
    private final List<ClaimRequest> claims;
    private final Set<ClaimId> recorded = new HashSet<>();
    private final Map<UUID, ClaimOutcome> outcomes = new HashMap<>();

    /** The previous round's rows: free ones were tried. */
    private Map<ClaimKey, ClaimRow> before = Map.of();

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

    /** Notes the ends that were written. */
    void ended(Set<UUID> written) {
        for (ClaimResolution resolution : resolutions) {
            if (written.contains(resolution.claim().value())) {
                recorded.add(resolution.claim());
            }
        }
        resolutions.removeIf(resolution -> recorded.contains(resolution.claim()));
    }

    /** Notes the first claims that were made: their ids and fencing tokens. */
    void claimed(ResultSet row) throws SQLException {
        while (row.next()) {
            outcomes.put(row.getObject(1, UUID.class), new Acquired(1, row.getLong(2), false));
        }
        forgetDecided();
    }

    /**
     * Decides entries by their rows, and returns those that can be written. A free row that has not changed since the
     * last try is locked, by a transaction that its former owner has fenced, for longer than a batch waits.
     *
     * @param rows of the open keys; one that is missing was deleted meanwhile, and can be claimed for the first time again
     * @return requests that can be written, one for each free key
     */
    List<FreeKey> decide(Map<ClaimKey, ClaimRow> rows) {
        resolutions.removeIf(
                resolution -> isDecided(resolution, rows.get(resolution.claim().key())));
        List<FreeKey> writable = new ArrayList<>();
        Set<ClaimKey> free = new HashSet<>();
        for (ClaimRequest request : claims) {
            ClaimRow row = rows.get(request.key());
            if (row == null) {
                continue;
            }
            if (row.isHeldBy(request.claimId())) {
                writable.add(new FreeKey(request, row));
            } else if (!row.isFree()) {
                outcomes.put(request.claimId(), row.refusal(request));
            } else if (row.wasReleasedBy(request.claimId()) || row.isAsIn(before.get(request.key()))) {
                outcomes.put(request.claimId(), new HeldElsewhere(Duration.ZERO));
            } else if (free.add(request.key())) {
                writable.add(new FreeKey(request, row));
            }
        }
        before = rows;
        forgetDecided();
        return writable;
    }

    /** Returns whether a row decides an end: it is recorded, or its claim is lost; not if it could be written now. */
    private boolean isDecided(ClaimResolution resolution, @Nullable ClaimRow row) {
        if (row == null || !row.claimId().equals(resolution.claim().value())) {
            return true;
        }
        if (row.status() == Status.COMPLETED && resolution instanceof Completed) {
            recorded.add(resolution.claim()); // by an earlier call
        }
        return row.status() != Status.HELD;
    }

    /** Records the outcomes of written requests. */
    void answer(List<FreeKey> keys, Set<UUID> written) {
        for (FreeKey key : keys) {
            if (written.contains(key.request().claimId())) {
                outcomes.put(key.request().claimId(), key.outcome());
            }
        }
        forgetDecided();
    }

    private void forgetDecided() {
        claims.removeIf(claim -> outcomes.containsKey(claim.claimId()));
    }

    /** A claim that is still open has lost its key to another transaction in each round, or its row is locked. */
    ClaimBatch.Result result() {
        Set<ClaimId> unanswered = new HashSet<>();
        resolutions.forEach(resolution -> unanswered.add(resolution.claim()));
        List<ClaimOutcome> claimed = new ArrayList<>(batch.claims().size());
        for (ClaimRequest claim : batch.claims()) {
            claimed.add(outcomes.getOrDefault(claim.claimId(), new HeldElsewhere(Duration.ZERO)));
        }
        return new ClaimBatch.Result(recorded, claimed, unanswered);
    }
}
