package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.ConnectionCallback;
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
    private static final String UPDATE = """
            UPDATE exactly_once_claim
            SET status = 'COMPLETED', result = ?, completed_at = clock_timestamp()
            WHERE scope = ? AND key = ? AND claim_id = ? AND status = 'HELD'
              AND current_setting('exactly_once.transaction', true) = ?
            """;

    /**
     * The same, and the commit: one round trip. A row that is not there any more divides by zero, which aborts the
     * transaction, so that its commit is not run.
     */
    private static final String UPDATE_AND_COMMIT =
            "WITH completed AS (\n" + UPDATE + "RETURNING 1) SELECT 1 / count(*) FROM completed;\nCOMMIT";

    private static final String DIVISION_BY_ZERO = "22012";

    /** Characters; far below what a value may have. */
    private static final int SURELY_STORED = 16 << 20;

    private final JdbcTemplate jdbc;

    TransactionalCompletion(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Completes claims, in one round trip but for results of which it is not known that PostgreSQL stores them.
     *
     * @param results of the claims that have one
     * @param mark of the transaction
     * @throws IllegalStateException if the transaction that made the claims is over
     */
    void complete(List<ClaimId> claims, Map<ClaimId, String> results, String mark) {
        List<ClaimId> plain = new ArrayList<>();
        for (ClaimId claim : claims) {
            String result = results.get(claim);
            if (result == null || isStorable(result) || !isStored(claim, result, mark)) {
                plain.add(claim);
            }
        }
        update(plain, claim -> storable(results.get(claim)), mark);
    }

    /**
     * Completes a claim, and commits as well if that takes no round trip more; else the commit is still to come.
     *
     * @throws IllegalStateException if the transaction that made the claim is over
     */
    void completeAndCommit(ClaimId claim, @Nullable String result, String mark) {
        if (result == null || isStorable(result)) {
            updateAndCommit(claim, result, mark);
        } else {
            complete(List.of(claim), Map.of(claim, result), mark);
        }
    }

    private void updateAndCommit(ClaimId claim, @Nullable String result, String mark) {
        try {
            jdbc.execute(UPDATE_AND_COMMIT, (PreparedStatement statement) -> {
                bind(statement, claim, result, mark);
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
     * Returns whether PostgreSQL surely stores a result, whatever the database's encoding: ASCII is a part of each. For
     * anything else it has to be asked.
     */
    private static boolean isStorable(String result) {
        return result.length() <= SURELY_STORED && result.chars().allMatch(unit -> unit > 0 && unit < 0x80);
    }

    private static @Nullable String storable(@Nullable String result) {
        return result == null || isStorable(result) ? result : null;
    }

    /**
     * The effect is worth more than its result: one that PostgreSQL refuses must not abort the transaction. The
     * savepoint costs two round trips.
     */
    private boolean isStored(ClaimId claim, String result, String mark) {
        return Boolean.TRUE.equals(jdbc.execute((ConnectionCallback<Boolean>) connection -> {
            Savepoint before = connection.setSavepoint();
            try {
                update(List.of(claim), any -> result, mark);
            } catch (DataAccessException unstorable) {
                rollback(connection, before, unstorable);
                log.warn("The result for {} cannot be stored; completing without it", claim.key(), unstorable);
                return false;
            }
            connection.releaseSavepoint(before);
            return true;
        }));
    }

    private static void rollback(Connection connection, Savepoint savepoint, DataAccessException unstorable) {
        try {
            connection.rollback(savepoint);
        } catch (SQLException connectionLost) {
            unstorable.addSuppressed(connectionLost);
            throw unstorable;
        }
    }

    private void update(List<ClaimId> claims, Function<ClaimId, @Nullable String> results, String mark) {
        if (claims.isEmpty()) {
            return;
        }
        int[] rows = jdbc.batchUpdate(
                        UPDATE,
                        claims,
                        claims.size(),
                        (statement, claim) -> bind(statement, claim, results.apply(claim), mark))[0];
        for (int index = 0; index < rows.length; index++) {
            if (rows[index] != 1) {
                throw ended(claims.get(index), null);
            }
        }
    }

    private static void bind(PreparedStatement statement, ClaimId claim, @Nullable String result, String mark)
            throws SQLException {
        statement.setString(1, result);
        statement.setString(2, claim.key().scope());
        statement.setString(3, claim.key().key());
        statement.setObject(4, claim.value());
        statement.setString(5, mark);
    }

    private static IllegalStateException ended(ClaimId claim, @Nullable Throwable cause) {
        return new IllegalStateException(
                ("The transaction that claimed %s ended before its handler did, so the handler's writes are not one with"
                                + " the claim: a handler with effects = DATABASE must neither commit nor roll back by itself")
                        .formatted(claim.key()),
                cause);
    }
}
