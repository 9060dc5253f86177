package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Claims single keys within a transaction of the application's own, as {@link BatchRounds} does many in one of its own.
 * The planner is left as it is: what it is told would hold for the handler's statements, too, and looking up one key by
 * its primary key needs no help.
 */
final class TransactionClaims {

    /** As in {@link BatchStatement}. Never waits for another transaction of this kind, which has the key's advisory lock. */
    private static final String INSERT = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                            fingerprint, lease_until, first_claimed_at, claimed_at, expires_at)
            SELECT ?, ?, 'HELD', ?, ?, 1, (extract(epoch FROM clock.reading) * 1000000)::bigint, false,
                   decode(?, 'hex'), clock.reading + ? * interval '1 microsecond', clock.reading, clock.reading,
                   clock.reading + ? * interval '1 microsecond'
            FROM (SELECT clock_timestamp() AS reading) AS clock
            ON CONFLICT (scope, key) DO NOTHING
            RETURNING attempt, fencing_token, ambiguous
            """;

    /** After the insert, which has proved that the server is a primary, and in the same transaction. */
    private static final String SELECT =
            "SELECT " + ClaimRow.COLUMNS + " FROM exactly_once_claim AS c WHERE c.scope = ? AND c.key = ?";

    private static final int MAX_ROUNDS = 10;

    private final JdbcTemplate jdbc;
    private final Duration retention;
    private final Takeovers takeovers;
    private final Parkings parkings;

    TransactionClaims(JdbcTemplate jdbc, Duration retention) {
        this.jdbc = jdbc;
        this.retention = retention;
        this.takeovers = new Takeovers(jdbc, retention);
        this.parkings = new Parkings(jdbc);
    }

    /** Decides in rounds, since somebody may change or delete the key's row in between. */
    ClaimOutcome decide(ClaimRequest request) {
        BatchEntry entry = new BatchEntry(request);
        for (int round = 0; round < MAX_ROUNDS; round++) {
            ClaimOutcome outcome = round(entry);
            if (outcome != null) {
                return outcome;
            }
        }
        throw new ConcurrencyFailureException(
                "%s changed in each of %d rounds, so it was not claimed: try again".formatted(entry.key(), MAX_ROUNDS));
    }

    private @Nullable ClaimOutcome round(BatchEntry entry) {
        Acquired first = insert(entry.request());
        if (first != null) {
            return first;
        }
        Optional<ClaimRow> row = read(entry.key());
        if (row.isEmpty()) {
            return null;
        }
        RequestedRow met = new RequestedRow(entry, row.get());
        return met.row().isFree() ? write(met) : met.row().refusal(entry.request());
    }

    private @Nullable ClaimOutcome write(RequestedRow free) {
        if (free.isLocked()) {
            return new HeldElsewhere(Duration.ZERO);
        }
        free.contest();
        if (free.mustBeParked()) {
            return parkings.parkInDoubt(List.of(free)).isEmpty() ? null : new Parked();
        }
        return takeovers.takeOver(List.of(free)).isEmpty() ? null : free.row().next();
    }

    private @Nullable Acquired insert(ClaimRequest request) {
        return jdbc
                .query(
                        INSERT,
                        statement -> bind(statement, request),
                        (row, number) -> new Acquired(
                                row.getInt("attempt"), row.getLong("fencing_token"), row.getBoolean("ambiguous")))
                .stream()
                .findFirst()
                .orElse(null);
    }

    private void bind(PreparedStatement statement, ClaimRequest request) throws SQLException {
        statement.setString(1, request.key().scope());
        statement.setString(2, request.key().key());
        statement.setObject(3, request.claimId());
        statement.setString(4, request.owner());
        statement.setString(5, request.fingerprint());
        statement.setLong(6, LeaseMicros.of(request.lease()));
        statement.setLong(7, LeaseMicros.of(retention));
    }

    private Optional<ClaimRow> read(ClaimKey key) {
        return jdbc
                .query(SELECT, (ResultSet row, int number) -> ClaimRow.read(row, key), key.scope(), key.key())
                .stream()
                .findFirst();
    }
}
