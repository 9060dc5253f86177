package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimsLockedException;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import io.exactlyonce.claim.postgres.jdbc.SingleRoundTripQuery;
import io.exactlyonce.claim.postgres.jdbc.StatementSettings;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;

/** Extends leases. */
final class LeaseRenewals {

    /** Locks and updates rows as {@link BatchStatement} does, passes locked ones by, and reports the same of them. */
    static final String STATEMENT = """
            WITH renewals AS MATERIALIZED (
                SELECT * FROM unnest(?, ?, ?, ?) WITH ORDINALITY AS request (scope, key, claim_id, lease_micros, position)
            ), renewing AS MATERIALIZED (
                SELECT wanted.position, wanted.lease_micros, found.row
                FROM renewals AS wanted
                CROSS JOIN LATERAL (
                    SELECT c.ctid AS row FROM exactly_once_claim AS c
                    WHERE c.scope = wanted.scope AND c.key = wanted.key AND c.claim_id = wanted.claim_id
                      AND c.status = 'HELD'
                    OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED
                ) AS found
            ), passed AS (
                SELECT wanted.position
                FROM renewals AS wanted
                CROSS JOIN LATERAL (
                    SELECT 1 FROM exactly_once_claim AS c
                    WHERE c.scope = wanted.scope AND c.key = wanted.key AND c.claim_id = wanted.claim_id
                      AND c.status = 'HELD'
                    OFFSET 0
                ) AS found
                WHERE wanted.position NOT IN (SELECT position FROM renewing)
            ), renewed AS (
                UPDATE exactly_once_claim AS claim
                SET lease_until = clock_timestamp() + renewing.lease_micros * interval '1 microsecond'
                FROM renewing
                WHERE claim.ctid = renewing.row
                RETURNING renewing.position
            )
            SELECT position, position IN (SELECT position FROM renewed) AS done, false AS passed FROM renewing
            UNION ALL
            SELECT position, false, true FROM passed
            """;

    private static final Comparator<LeaseRenewal> KEY_ORDER =
            Comparator.comparing(renewal -> renewal.claim().key());

    private final SingleRoundTripQuery statement;
    private final RetryingTransaction transaction;
    private final LockedRowWait lockedRows;

    LeaseRenewals(
            JdbcTemplate jdbc, StatementSettings settings, RetryingTransaction transaction, LockedRowWait lockedRows) {
        this.statement = SingleRoundTripQuery.transaction(jdbc, settings.lookUpRows(), STATEMENT);
        this.transaction = transaction;
        this.lockedRows = lockedRows;
    }

    /**
     * Returns the claims that are held.
     *
     * @throws ClaimsLockedException if rows stayed locked; the other leases are extended before any of those is waited for
     */
    Set<ClaimId> renew(List<LeaseRenewal> renewals) {
        Set<ClaimId> held = new HashSet<>();
        Set<ClaimId> locked = new HashSet<>();
        List<LeaseRenewal> open = once(renewals);
        for (int round = 0; !open.isEmpty(); round++) {
            BatchExecutor.requireMore(round, open.size(), renewals.size());
            List<LeaseRenewal> tried = open;
            Reply reply = transaction.execute(() -> run(tried));
            held.addAll(reply.held());
            List<ClaimId> passed = tried.stream()
                    .map(LeaseRenewal::claim)
                    .filter(reply.locked()::contains)
                    .toList();
            locked.addAll(lockedRows.stillLocked(passed, round));
            open = tried.stream()
                    .filter(renewal -> reply.isOpen(renewal.claim()))
                    .filter(renewal -> !locked.contains(renewal.claim()))
                    .toList();
        }
        return ClaimsLockedException.requireNone(locked, held);
    }

    /** Two renewals of one claim are one; of two claims of one key at most one can be held. */
    private static List<LeaseRenewal> once(List<LeaseRenewal> renewals) {
        Set<ClaimId> claims = new HashSet<>();
        return renewals.stream()
                .filter(renewal -> claims.add(renewal.claim()))
                .sorted(KEY_ORDER)
                .toList();
    }

    private Reply run(List<LeaseRenewal> renewals) {
        Reply reply = new Reply(new HashSet<>(), new HashSet<>(), new HashSet<>());
        statement.query(parameters -> bind(parameters, renewals), row -> {
            ClaimId claim = renewals.get(row.getInt("position") - 1).claim();
            if (row.getBoolean("passed")) {
                reply.locked().add(claim);
            } else {
                (row.getBoolean("done") ? reply.held() : reply.changedMeanwhile()).add(claim);
            }
        });
        return reply;
    }

    /** What one run of the statement did and saw. A claim in none of the sets is lost. */
    private record Reply(Set<ClaimId> held, Set<ClaimId> changedMeanwhile, Set<ClaimId> locked) {

        boolean isOpen(ClaimId claim) {
            return changedMeanwhile.contains(claim) || locked.contains(claim);
        }
    }

    private static void bind(PreparedStatement parameters, List<LeaseRenewal> renewals) throws SQLException {
        new ArrayParameters<>(parameters, 1, renewals)
                .text(renewal -> renewal.claim().key().scope())
                .text(renewal -> renewal.claim().key().key())
                .uuid(renewal -> renewal.claim().value())
                .bigint(renewal -> ArrayParameters.micros(renewal.lease()));
    }
}
