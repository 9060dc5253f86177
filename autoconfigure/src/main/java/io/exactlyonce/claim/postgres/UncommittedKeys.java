package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.jdbc.AdvisoryLock;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import io.exactlyonce.claim.postgres.jdbc.SqlStates;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Keys whose rows another transaction has written and not yet committed: a handler with {@code effects = DATABASE} is at
 * work, for as long as it takes. An insert would wait for its end.
 */
final class UncommittedKeys {

    /** Tries locks as {@link KeyStateQuery} does: shared, so that two looks do not see each other. */
    private static final String SELECT = "SELECT wanted.number FROM unnest(?) AS wanted (number)"
            + " WHERE NOT pg_try_advisory_xact_lock_shared(wanted.number)";

    private final JdbcTemplate jdbc;
    private final RetryingTransaction transaction;

    UncommittedKeys(JdbcTemplate jdbc, RetryingTransaction transaction) {
        this.jdbc = jdbc;
        this.transaction = transaction;
    }

    /** Applies a batch. If the wait times out, such keys are held elsewhere, and the rest goes without them. */
    ClaimBatch.Result passBy(ClaimBatch batch, Function<ClaimBatch, ClaimBatch.Result> rounds) {
        try {
            return rounds.apply(batch);
        } catch (RuntimeException failure) {
            if (!SqlStates.isLockTimeout(failure)) {
                throw failure;
            }
            Set<ClaimKey> held = among(batch.claims());
            if (held.isEmpty()) {
                throw failure;
            }
            return withHeld(batch, held, rounds.apply(without(held, batch)));
        }
    }

    private static ClaimBatch without(Set<ClaimKey> held, ClaimBatch batch) {
        List<ClaimRequest> rest = batch.claims().stream()
                .filter(request -> !held.contains(request.key()))
                .toList();
        return new ClaimBatch(batch.ends(), rest);
    }

    private static ClaimBatch.Result withHeld(ClaimBatch batch, Set<ClaimKey> held, ClaimBatch.Result rest) {
        Iterator<ClaimOutcome> decided = rest.claimed().iterator();
        List<ClaimOutcome> claimed = new ArrayList<>(batch.claims().size());
        for (ClaimRequest request : batch.claims()) {
            claimed.add(held.contains(request.key()) ? new HeldElsewhere(request.lease()) : decided.next());
        }
        return new ClaimBatch.Result(rest.recorded(), claimed, rest.locked());
    }

    private Set<ClaimKey> among(Collection<ClaimRequest> requests) {
        Map<Long, ClaimKey> byNumber = new HashMap<>();
        requests.forEach(request -> byNumber.put(AdvisoryLock.number(request.key()), request.key()));
        List<Long> numbers = List.copyOf(byNumber.keySet());
        return transaction.execute(() -> {
            Set<ClaimKey> uncommitted = new HashSet<>();
            jdbc.query(
                    SELECT, statement -> new ArrayParameters<>(statement, 1, numbers).bigint(number -> number), row -> {
                        uncommitted.add(byNumber.get(row.getLong("number")));
                    });
            return uncommitted;
        });
    }
}
