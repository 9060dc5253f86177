package io.exactlyonce.claim.postgres;

import io.exactlyonce.ClaimLife;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Looks one key's row up, without its result. */
final class ClaimLifeQuery {

    private static final String FIND = """
            SELECT status, attempt, fencing_token, ambiguous, owner, first_claimed_at, claimed_at, lease_until,
                   lease_until <= clock_timestamp() AS lease_over, completed_at, parked_at, expires_at, error
            FROM exactly_once_claim WHERE scope = ? AND key = ?
            """;

    private final JdbcTemplate jdbc;
    private final RetryingTransaction transaction;

    ClaimLifeQuery(DataSource dataSource) {
        this.jdbc = new JdbcTemplate(dataSource);
        this.transaction = new RetryingTransaction(dataSource);
    }

    Optional<ClaimLife> find(ClaimKey key) {
        return transaction.execute(() -> jdbc.query(FIND, ClaimLifeQuery::map, key.scope(), key.key()).stream()
                .findFirst());
    }

    private static ClaimLife map(ResultSet row, int number) throws SQLException {
        return new ClaimLife(
                row.getString("status"),
                row.getInt("attempt"),
                row.getLong("fencing_token"),
                row.getBoolean("ambiguous"),
                row.getString("owner"),
                required(row, "first_claimed_at"),
                required(row, "claimed_at"),
                required(row, "lease_until"),
                row.getBoolean("lease_over"),
                instant(row, "completed_at"),
                instant(row, "parked_at"),
                required(row, "expires_at"),
                row.getString("error"));
    }

    private static Instant required(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(instant(row, column));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
