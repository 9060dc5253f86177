package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.postgres.jdbc.ArrayParameters;
import io.exactlyonce.claim.postgres.jdbc.SingleRoundTripQuery;
import io.exactlyonce.claim.postgres.jdbc.StatementSettings;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;

/** Completes claims in the transaction that made them, and thereby proves that this is still the same transaction. */
final class TransactionalCompletion {

    private static final Logger log = LoggerFactory.getLogger(TransactionalCompletion.class);

    /**
     * Finds a row only in the very transaction that was marked when it wrote that. Work that committed or rolled back on
     * its own has left that transaction, and the mark has gone with it; and work that swallowed an error of PostgreSQL's has
     * left an aborted one, in which this fails. The row's {@code xmin} would not do: it is the number of a subtransaction if
     * the driver sets savepoints ({@code autosave}).
     */
    private static final String STILL_MARKED = " AND current_setting('exactly_once.transaction', true) = ?\n";

    private static final String COMPLETE = """
            WITH held AS (
                SELECT found.place, wanted.result
                FROM unnest((SELECT ?::text[]), (SELECT ?::text[]), (SELECT ?::uuid[]), (SELECT ?::text[]))
                     AS wanted (scope, key, claim_id, result)
                CROSS JOIN LATERAL (
                    SELECT c.ctid AS place FROM exactly_once_claim AS c
                    WHERE c.scope = wanted.scope AND c.key = wanted.key AND c.claim_id = wanted.claim_id
                      AND c.status = 'HELD'
                    OFFSET 0
                ) AS found
            )
            UPDATE exactly_once_claim AS claim
            SET status = 'COMPLETED', result = held.result, completed_at = clock_timestamp()
            FROM held
            WHERE claim.ctid = held.place
            """ + STILL_MARKED + "RETURNING claim.claim_id";

    /**
     * The same for one claim, and the commit: one round trip. A row that is not there any more divides by zero, which aborts
     * the transaction, so that its commit is not run.
     */
    private static final String COMPLETE_AND_COMMIT =
            StatementSettings.within("""
                    WITH completed AS (
                        UPDATE exactly_once_claim
                        SET status = 'COMPLETED', result = ?, completed_at = clock_timestamp()
                        WHERE scope = ? AND key = ? AND claim_id = ? AND status = 'HELD'
                    """ + STILL_MARKED + "RETURNING 1) SELECT 1 / count(*) FROM completed")
                    + ";\nCOMMIT";

    private static final String DIVISION_BY_ZERO = "22012";

    private final JdbcTemplate jdbc;
    private final SingleRoundTripQuery complete;

    TransactionalCompletion(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        this.complete = SingleRoundTripQuery.within(jdbc, COMPLETE);
    }

    /**
     * Completes claims, in one round trip.
     *
     * @param results of the claims that have one
     * @param mark of the transaction
     * @throws IllegalStateException if the transaction that made the claims is over
     */
    void complete(List<ClaimId> claims, Map<ClaimId, String> results, String mark) {
        Set<UUID> completed = new HashSet<>();
        complete.query(
                parameters -> bind(parameters, claims, results, mark),
                row -> completed.add(row.getObject("claim_id", UUID.class)));
        for (ClaimId claim : claims) {
            if (!completed.contains(claim.value())) {
                throw ended(claim, null);
            }
        }
    }

    /**
     * Completes a claim, and commits as well, in the same round trip.
     *
     * @throws IllegalStateException if the transaction that made the claim is over
     */
    void completeAndCommit(ClaimId claim, @Nullable String result, String mark) {
        try {
            jdbc.execute(COMPLETE_AND_COMMIT, (PreparedStatement statement) -> {
                statement.setString(1, storable(claim, result));
                statement.setString(2, claim.key().scope());
                statement.setString(3, claim.key().key());
                statement.setObject(4, claim.value());
                statement.setString(5, mark);
                return statement.execute();
            });
        } catch (DataIntegrityViolationException failure) {
            throw isDivisionByZero(failure) ? ended(claim, failure) : failure;
        }
    }

    private static boolean isDivisionByZero(DataIntegrityViolationException failure) {
        return failure.getMostSpecificCause() instanceof SQLException sql && DIVISION_BY_ZERO.equals(sql.getSQLState());
    }

    /**
     * The effect is worth more than its result. With NUL, a driver that sends values within the statement
     * ({@code preferQueryMode=simple}) breaks the protocol, and pools take the connection for broken.
     */
    private static @Nullable String storable(ClaimId claim, @Nullable String result) {
        if (result == null || result.indexOf('\0') < 0) {
            return result;
        }
        var unstorable = new IllegalArgumentException("It contains a NUL character, which PostgreSQL cannot store");
        log.warn("The result for {} cannot be stored; completing without it", claim.key(), unstorable);
        return null;
    }

    private static void bind(
            PreparedStatement parameters, List<ClaimId> claims, Map<ClaimId, String> results, String mark)
            throws SQLException {
        new ArrayParameters<>(parameters, 1, claims)
                .text(claim -> claim.key().scope())
                .text(claim -> claim.key().key())
                .uuid(ClaimId::value)
                .text(claim -> storable(claim, results.get(claim)));
        parameters.setString(5, mark);
    }

    private static IllegalStateException ended(ClaimId claim, @Nullable Throwable cause) {
        return new IllegalStateException(
                ("The transaction that claimed %s ended before its handler did, so the handler's writes are not one with"
                                + " the claim: a handler with effects = DATABASE must neither commit nor roll back by itself")
                        .formatted(claim.key()),
                cause);
    }
}
