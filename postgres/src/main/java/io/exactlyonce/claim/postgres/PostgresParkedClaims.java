package io.exactlyonce.claim.postgres;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ParkedClaims;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.DataClassRowMapper;

/** The parked rows of the claim table, and the life of any row, without its result. */
public final class PostgresParkedClaims implements ParkedClaims {

    private static final String COLUMNS = """
            SELECT scope, key, claim_id, attempt, in_doubt, coalesce(error, 'unknown') AS reason,
                   (extract(epoch FROM parked_at) {*} 1000000)::bigint AS parked_at_micros
            FROM {table}
            """;

    /** Has a condition on {@code parked_at}, because the index of parked claims has one. */
    static final String LIST = COLUMNS + """
            WHERE parked_at IS NOT NULL AND status {=} 'PARKED'
              AND (parked_at, scope, key)
                  {>} (timestamp with time zone 'epoch' {+} (? {*} interval '1 microsecond'), ?, ?)
            ORDER BY parked_at, scope, key
            LIMIT ?
            """;

    private static final String FIND = COLUMNS + "WHERE scope {=} ? AND key {=} ? AND status {=} 'PARKED'";

    /** A parked row has no result yet. */
    private static final String DECIDE = """
            parked_at = NULL,
            expires_at = greatest(expires_at, pg_catalog.clock_timestamp() {+} (? {*} interval '1 microsecond'))
            WHERE scope {=} ? AND key {=} ? AND claim_id {=} ? AND status {=} 'PARKED'
            """;

    /** {@code cleared} stays until the next claim: an operator has decided. */
    private static final String RELEASE =
            "UPDATE {table} SET status = 'RELEASED', cleared = true, result = ?, " + DECIDE;

    private static final String COMPLETE =
            "UPDATE {table} SET status = 'COMPLETED', completed_at = pg_catalog.clock_timestamp(), result = ?, "
                    + DECIDE;

    private static final String DETAILS = """
            SELECT status, attempt, fencing_token, in_doubt, owner, first_claimed_at, claimed_at, lease_until,
                   lease_until {<=} pg_catalog.clock_timestamp() AS is_lease_over, completed_at, parked_at, expires_at, error
            FROM {table} WHERE scope {=} ? AND\s""";

    private static final String BY_KEY = "key {=} ?";

    /** No index has it: all rows of the scope are read. */
    private static final String BY_SHORT_HASH = """
            pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(
                pg_catalog.convert_to(scope, 'UTF8') {||} '\\x00'::pg_catalog.bytea {||} pg_catalog.convert_to(key, 'UTF8')),
                'hex'), 16) {=} ?
            """;

    private final ClaimTable table;
    private final Statements statements;
    private final long retentionMicros;

    /** @param table the claim store's; its retention is the minimum time for which a key's row is kept after a decision */
    public PostgresParkedClaims(ClaimTable table) {
        this.table = table;
        this.statements = table.statements();
        this.retentionMicros = Statements.micros(table.retention());
    }

    @Override
    public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        return after == null
                ? query(LIST, ParkedClaim.class, 0L, "", "", limit)
                : query(LIST, ParkedClaim.class, after.parkedAtMicros(), after.scope(), after.key(), limit);
    }

    @Override
    public Optional<ParkedClaim> find(ClaimKey key) {
        return query(FIND, ParkedClaim.class, key.scope(), key.key()).stream().findFirst();
    }

    @Override
    public Optional<ClaimDetails> details(ClaimKey key) {
        return query(DETAILS + BY_KEY, ClaimDetails.class, key.scope(), key.key()).stream()
                .findFirst();
    }

    @Override
    public Optional<ClaimDetails> detailsByHash(String scope, String hash) {
        return ParkedClaims.super
                .detailsByHash(scope, hash)
                .or(() -> query(DETAILS + BY_SHORT_HASH, ClaimDetails.class, scope, hash).stream()
                        .findFirst());
    }

    private <T> List<T> query(String sql, Class<T> type, Object... parameters) {
        return statements.query(table.sql(table.alone(sql)), DataClassRowMapper.newInstance(type), parameters);
    }

    @Override
    public boolean release(ClaimId claim) {
        return decide(RELEASE, claim, null);
    }

    @Override
    public boolean complete(ClaimResolution.Completed completion) {
        return decide(COMPLETE, completion.claim(), completion.result());
    }

    private boolean decide(String sql, ClaimId claim, @Nullable String result) {
        ClaimKey key = claim.key();
        return statements.run(
                connection -> {
                    try (PreparedStatement statement = connection.prepareStatement(table.sql(table.alone(sql)))) {
                        new Parameters(statement)
                                .values(result, retentionMicros, key.scope(), key.key(), claim.value());
                        statement.execute();
                        statement.getMoreResults();
                        return statement.getUpdateCount() > 0;
                    }
                    // A second try could not distinguish the first one's commit from another operator's decision.
                },
                1);
    }
}
