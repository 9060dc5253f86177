package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.LeaseRenewal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.JdbcTemplate;

/** Extends leases, one statement for each length of lease. */
final class Renewals {

    /**
     * Three arrays rather than a join with {@code unnest}, which reads the whole index. Scopes and keys find the rows;
     * the claims' ids, which no two claims share, decide.
     */
    static final String UPDATE = """
            UPDATE exactly_once_claim
            SET lease_until = clock_timestamp() + ? * interval '1 microsecond'
            WHERE scope = ANY (?) AND key = ANY (?) AND claim_id = ANY (?) AND status = 'HELD'
            RETURNING scope, key, claim_id
            """;

    /** The statement is planned once, maybe on a table so young that reading all of it looks cheap: forbid that. */
    static final String USE_THE_INDEX = "SET LOCAL enable_seqscan = off";

    private static final Comparator<LeaseRenewal> KEY_ORDER =
            Comparator.comparing(renewal -> renewal.claim().key());

    private final JdbcTemplate jdbc;

    Renewals(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the claims that are held. */
    Set<ClaimId> renew(List<LeaseRenewal> renewals) {
        Set<ClaimId> held = new HashSet<>();
        if (renewals.isEmpty()) {
            return held;
        }
        jdbc.execute(USE_THE_INDEX);
        Map<Duration, List<LeaseRenewal>> byLease =
                renewals.stream().sorted(KEY_ORDER).collect(Collectors.groupingBy(LeaseRenewal::lease));
        byLease.forEach((lease, group) -> held.addAll(renew(lease, group)));
        return held;
    }

    private List<ClaimId> renew(Duration lease, List<LeaseRenewal> renewals) {
        return jdbc.query(
                UPDATE,
                statement -> bind(statement, lease, renewals),
                (row, number) -> new ClaimId(
                        new ClaimKey(row.getString("scope"), row.getString("key")),
                        row.getObject("claim_id", UUID.class)));
    }

    private static void bind(PreparedStatement statement, Duration lease, List<LeaseRenewal> renewals)
            throws SQLException {
        List<String> scopes = renewals.stream()
                .map(renewal -> renewal.claim().key().scope())
                .distinct()
                .toList();
        statement.setLong(1, LeaseMicros.of(lease));
        SqlArrays.bind(statement, 2, "text", scopes, scope -> scope);
        SqlArrays.bind(
                statement, 3, "text", renewals, renewal -> renewal.claim().key().key());
        SqlArrays.bind(
                statement, 4, "uuid", renewals, renewal -> renewal.claim().value());
    }
}
