package io.exactlyonce.claim.postgres.retention;

import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Looks at the table as a whole, by its indexes alone. */
public final class ClaimTableStats {

    /** The statement is planned once, maybe on a table so young that reading all of it looks cheap: forbid that. */
    static final String USE_THE_INDEXES = "SET LOCAL enable_seqscan = off";

    /** The oldest is the one that expires first. The two differ while rows of an earlier retention are there. */
    static final String SELECT = """
            SELECT (SELECT extract(epoch FROM greatest(now() - claimed_at, interval '0')) * 1000000
                    FROM exactly_once_claim WHERE parked_at IS NULL
                    ORDER BY expires_at LIMIT 1)::bigint AS oldest_micros,
                   (SELECT count(*) FROM exactly_once_claim WHERE parked_at IS NOT NULL) AS parked
            """;

    private final RetryingTransaction transaction;
    private final JdbcTemplate jdbc;

    /**
     * What was found.
     *
     * @param oldest time since the oldest claim that will expire, or {@code null} if there is none
     * @param parked claims that wait for an operator's decision
     */
    record Findings(@Nullable Duration oldest, long parked) {}

    public ClaimTableStats(DataSource dataSource) {
        this.transaction = new RetryingTransaction(dataSource);
        this.jdbc = new JdbcTemplate(dataSource);
    }

    public Findings look() {
        return transaction.execute(() -> {
            jdbc.execute(USE_THE_INDEXES);
            return jdbc.query(SELECT, ClaimTableStats::findings).get(0);
        });
    }

    private static Findings findings(ResultSet row, int number) throws SQLException {
        long micros = row.getLong("oldest_micros");
        Duration oldest = row.wasNull() ? null : Duration.of(micros, ChronoUnit.MICROS);
        return new Findings(oldest, row.getLong("parked"));
    }
}
