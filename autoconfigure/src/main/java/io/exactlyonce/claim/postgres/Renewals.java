package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.LeaseRenewal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;

/** Extends leases. */
final class Renewals {

    /** Locks and updates rows as {@link BatchStatement} does, and reports the same of them. */
    static final String STATEMENT = """
            WITH renewing AS MATERIALIZED (
                SELECT wanted.position, wanted.lease_micros, found.row
                FROM unnest(?, ?, ?, ?) WITH ORDINALITY AS wanted (scope, key, claim_id, lease_micros, position)
                CROSS JOIN LATERAL (
                    SELECT c.ctid AS row FROM exactly_once_claim AS c
                    WHERE c.scope = wanted.scope AND c.key = wanted.key AND c.claim_id = wanted.claim_id
                      AND c.status = 'HELD'
                    OFFSET 0 FOR NO KEY UPDATE
                ) AS found
            ), renewed AS (
                UPDATE exactly_once_claim AS claim
                SET lease_until = clock_timestamp() + renewing.lease_micros * interval '1 microsecond'
                FROM renewing
                WHERE claim.ctid = renewing.row
                RETURNING renewing.position
            )
            SELECT position, position IN (SELECT position FROM renewed) AS done FROM renewing
            """;

    private static final Comparator<LeaseRenewal> KEY_ORDER =
            Comparator.comparing(renewal -> renewal.claim().key());

    private final OneRoundTrip statement;
    private final RetryingTransaction transaction;

    Renewals(JdbcTemplate jdbc, RetryingTransaction transaction) {
        this.statement = new OneRoundTrip(jdbc, PlannerSettings.LOOK_UP_ROWS, STATEMENT);
        this.transaction = transaction;
    }

    /** Returns the claims that are held. */
    Set<ClaimId> renew(List<LeaseRenewal> renewals) {
        Set<ClaimId> held = new HashSet<>();
        List<LeaseRenewal> open = once(renewals);
        for (int round = 0; !open.isEmpty(); round++) {
            BatchRounds.requireMore(round, open.size(), renewals.size());
            List<LeaseRenewal> tried = open;
            BatchAnswer answer = transaction.execute(() -> run(tried));
            tried.stream().map(LeaseRenewal::claim).filter(answer::isDone).forEach(held::add);
            open = tried.stream()
                    .filter(renewal -> answer.isChangedMeanwhile(renewal.claim()))
                    .toList();
        }
        return held;
    }

    /** Two renewals of one claim are one; of two claims of one key at most one can be held. */
    private static List<LeaseRenewal> once(List<LeaseRenewal> renewals) {
        Set<ClaimId> claims = new HashSet<>();
        return renewals.stream()
                .filter(renewal -> claims.add(renewal.claim()))
                .sorted(KEY_ORDER)
                .toList();
    }

    private BatchAnswer run(List<LeaseRenewal> renewals) {
        BatchAnswer answer = new BatchAnswer();
        statement.query(
                parameters -> bind(parameters, renewals),
                row -> answer.ending(renewals.get(row.getInt("position") - 1).claim(), row.getBoolean("done")));
        return answer;
    }

    private static void bind(PreparedStatement parameters, List<LeaseRenewal> renewals) throws SQLException {
        new SqlArrays<>(parameters, 1, renewals)
                .text(renewal -> renewal.claim().key().scope())
                .text(renewal -> renewal.claim().key().key())
                .uuid(renewal -> renewal.claim().value())
                .bigint(renewal -> LeaseMicros.of(renewal.lease()));
    }
}
