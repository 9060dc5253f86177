package io.exactlyonce.claim.postgres;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.backend.StoredClaim;
import io.exactlyonce.claim.backend.Turns;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.RowMapper;

/**
 * Lets operators list parked claims and decide on them. Also shows the history of any claim, without its result.
 *
 * <p>Operators must not slow down claims. So an instance runs at most one lookup and one decision at a time. Each
 * statement is cancelled after 2 s, and uses one processor of the server. Counts and lookups by hash read a limited
 * number of rows.
 */
public final class PostgresParkedClaims implements ParkedClaims {

    /**
     * Limit of rows that a lookup by hash reads from each index, the newest first. Reading so many rows takes about 0.2
     * s.
     */
    static final int HASHES = 100_000;

    /**
     * The settings of {@link Statements#SETTINGS}, with shorter time limits, so that the connection is soon free again
     * even if another transaction keeps a row locked.
     */
    private static final String LIMITS = """
            SELECT pg_catalog.set_config('enable_seqscan', 'off', true),
                   pg_catalog.set_config('synchronous_commit', '%s', true),
                   pg_catalog.set_config('statement_timeout', '2s', true),
                   pg_catalog.set_config('lock_timeout', '1s', true),
                   pg_catalog.set_config('max_parallel_workers_per_gather', '0', true);
            """;

    /**
     * Tries to take an advisory lock, so that only one lookup by hash runs on a database at a time. Otherwise, the
     * lookups of many instances could keep many of the server's processors busy. A lookup that does not get the lock
     * reads no row. The number of the lock is arbitrary.
     */
    private static final String TAKE_TURN = """
            SELECT pg_catalog.set_config('exactly_once.turn',
                       pg_catalog.pg_try_advisory_xact_lock(7317441206845103)::pg_catalog.text, true);
            """;

    private static final String HAS_TURN = "pg_catalog.current_setting('exactly_once.turn', true) {=} 'true'";

    private static final String COLUMNS = """
            SELECT scope, key, claim_id, attempt, failures, in_doubt, coalesce(error, 'unknown') AS reason,
                   (extract(epoch FROM parked_at) {*} 1000000)::bigint AS parked_at_micros
            FROM {table}
            """;

    private static final RowMapper<ParkedClaim> PARKED = (row, number) -> ParkedClaim.of(
            row.getString("scope"),
            row.getString("key"),
            row.getObject("claim_id", UUID.class),
            row.getInt("attempt"),
            row.getInt("failures"),
            row.getBoolean("in_doubt"),
            row.getString("reason"),
            time(row.getLong("parked_at_micros")));

    private static final RowMapper<StoredClaim> STORED = DataClassRowMapper.newInstance(StoredClaim.class);

    private static final String TIME = "(timestamp with time zone 'epoch' {+} (? {*} interval '1 microsecond'))";

    /**
     * Lists parked claims, the oldest first. Reads the index on {@code parked_at}, which contains parked rows only.
     *
     * <p>The condition must not compare {@code status}, and must not be written as
     * {@code (parked_at, scope, key) > (?, ?, ?)}. In both cases, PostgreSQL would read and sort all parked rows, which
     * is slow.
     */
    static final String LIST = COLUMNS + """
            WHERE parked_at {>=} %1$s AND (parked_at {>} %1$s OR (scope, key) {>} (?, ?))
            ORDER BY parked_at, scope, key
            LIMIT ?
            """.formatted(TIME);

    /** A count reads at most this many rows, beginning with the oldest. That takes about 10 ms. */
    static final int COUNTED = 10_000;

    private static final String PARKED_SINCE = COLUMNS + "WHERE parked_at {>=} " + TIME;

    /**
     * Compares the error of a claim with a class name. The error begins with the class name and a colon, or is equal to
     * it.
     */
    private static final String OF_CLASS =
            " AND (coalesce(error, 'unknown') {=} ? OR pg_catalog.starts_with(error, ? {||} '%s'))"
                    .formatted(END_OF_CLASS);

    private static final String FIND_ALL = COLUMNS
            + "WHERE parked_at IS NOT NULL AND claim_id {=} ANY (pg_catalog.string_to_array(?, ',')::pg_catalog.uuid[])";

    private static final String COUNT = """
            SELECT scope, pg_catalog.count(*) AS parked,
                   (extract(epoch FROM pg_catalog.min(parked_at)) {*} 1000000)::bigint AS oldest_micros
            FROM (SELECT scope, parked_at FROM {table} WHERE parked_at IS NOT NULL
                  ORDER BY parked_at LIMIT %s) AS oldest
            GROUP BY scope""".formatted(COUNTED);

    private static final RowMapper<Count> COUNTS = (row, number) ->
            new Count(row.getString("scope"), row.getLong("parked"), time(row.getLong("oldest_micros")));

    private static final String FIND = COLUMNS + "WHERE scope {=} ? AND key {=} ? AND status {=} 'PARKED'";

    /**
     * Writes the decisions of operators to rows that are still parked. Rows are locked in key order. If another
     * transaction has locked a row, the statement waits, because the row may still be parked afterwards.
     */
    private static final String DECIDE = """
            parked_at = NULL,
                expires_at = greatest(claim.expires_at, pg_catalog.clock_timestamp() {+} (w.retention_micros {*} interval '1 microsecond'))
            FROM (SELECT w.*, parked.*
                  FROM unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.uuid[]), (SELECT ?::pg_catalog.text[]),
                              (SELECT ?::bigint[]))
                       AS w (scope, key, claim_id, result, retention_micros)
                  CROSS JOIN LATERAL (
                      SELECT %s FROM {table} AS c
                      WHERE c.scope {=} w.scope AND c.key {=} w.key AND c.claim_id {=} w.claim_id AND c.status {=} 'PARKED'
                      LIMIT 1 FOR NO KEY UPDATE
                  ) AS parked OFFSET 0) AS w
            WHERE %s
            RETURNING claim.claim_id""".formatted(ClaimTable.PLACE, ClaimTable.AT_PLACE);

    /**
     * Releases parked rows. {@code cleared} tells the next claim that an operator has released the key. Failures are
     * counted from zero again, but the attempt number continues.
     */
    private static final String RELEASE = """
            UPDATE {table} AS claim
            SET status = 'RELEASED', cleared = true, failures = 0, result = w.result,
            """ + DECIDE;

    private static final String COMPLETE = """
            UPDATE {table} AS claim
            SET status = 'COMPLETED', completed_at = pg_catalog.clock_timestamp(), result = w.result,
            """ + DECIDE;

    private static final String LIFE = """
            status, claim_id, attempt, fencing_token, in_doubt AS is_in_doubt, owner, first_claimed_at, claimed_at, lease_until,
                   lease_until {<=} pg_catalog.clock_timestamp() AS is_lease_over, completed_at, parked_at, expires_at, error, failures
            """;

    private static final String DETAILS = "SELECT " + LIFE + "FROM {table} WHERE scope {=} ? AND key {=} ?";

    private static final String SHORT_HASH = """
            pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(
                pg_catalog.convert_to(scope, 'UTF8') {||} '\\x00'::pg_catalog.bytea {||} pg_catalog.convert_to(key, 'UTF8')),
                'hex'), 16)""";

    private static final String OF_HASH = " WHERE scope {=} ? AND " + SHORT_HASH + " {=} ? LIMIT 1";

    /** Reads the newest parked rows. Their hashes are computed afterwards, because no index contains a hash. */
    private static final String LATEST_PARKED =
            "FROM {table} WHERE parked_at IS NOT NULL AND %s ORDER BY parked_at DESC LIMIT %s"
                    .formatted(HAS_TURN, HASHES);

    /**
     * Reads rows that are not parked, beginning with the latest {@code expires_at}. These are usually the newest rows,
     * because {@code expires_at} is set when a key is claimed.
     */
    private static final String LATEST_CLAIMED =
            "FROM {table} WHERE parked_at IS NULL AND %s ORDER BY expires_at DESC LIMIT %s".formatted(HAS_TURN, HASHES);

    private static final String FIND_BY_HASH = """
            SELECT scope, key, claim_id, attempt, failures, in_doubt, coalesce(error, 'unknown') AS reason,
                   (extract(epoch FROM parked_at) {*} 1000000)::bigint AS parked_at_micros
            FROM (SELECT scope, key, claim_id, attempt, failures, in_doubt, error, parked_at %s) AS latest""".formatted(LATEST_PARKED) + OF_HASH;

    static final String DETAILS_BY_HASH =
            "SELECT latest.* FROM ((SELECT scope, key, %s %s) UNION ALL (SELECT scope, key, %s %s)) AS latest"
                            .formatted(LIFE, LATEST_PARKED, LIFE, LATEST_CLAIMED)
                    + OF_HASH;

    private static final String SEARCH =
            "SELECT scope, key, status, claim_id, attempt, error FROM {table} WHERE " + SHORT_HASH;

    private final ClaimTable table;
    private final Statements statements;
    private final String limits;
    private final long retentionMicros;
    private final Turns looking = new Turns();
    private final Turns deciding = new Turns();

    /** Uses the table's own connections. */
    public PostgresParkedClaims(ClaimTable table) {
        this(table, table.dataSource());
    }

    /**
     * Uses these connections instead of the table's own.
     *
     * @param table the claim table. After a decision, a row is kept at least for the table's retention
     * @param connections connections to the claim database; at most two are used at a time
     */
    public PostgresParkedClaims(ClaimTable table, DataSource connections) {
        this.table = table;
        this.statements = new Statements(connections, table::resolve);
        this.limits = LIMITS.formatted(table.synchronousCommit().setting());
        this.retentionMicros = Statements.micros(table.retention());
    }

    @Override
    public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        long time = after == null ? 0 : micros(after.parkedAt());
        String scope = after == null ? "" : after.scope();
        String key = after == null ? "" : after.key();
        return query(LIST, PARKED, time, time, scope, key, limit);
    }

    private static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    private static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    @Override
    public List<ParkedClaim> listMatching(Filter filter, int limit) {
        StringBuilder sql = new StringBuilder(PARKED_SINCE);
        List<Object> parameters = new ArrayList<>();
        parameters.add(filter.from() == null ? 0L : micros(filter.from()));
        if (filter.until() != null) {
            sql.append(" AND parked_at {<=} ").append(TIME);
            parameters.add(micros(filter.until()));
        }
        if (filter.scope() != null) {
            sql.append(" AND scope {=} ?");
            parameters.add(filter.scope());
        }
        if (filter.errorClass() != null) {
            sql.append(OF_CLASS);
            parameters.addAll(List.of(filter.errorClass(), filter.errorClass()));
        }
        parameters.add(limit);
        return query(sql.append(" ORDER BY parked_at, scope, key LIMIT ?").toString(), PARKED, parameters.toArray());
    }

    @Override
    public List<ParkedClaim> findAll(Set<UUID> claims) {
        return query(FIND_ALL, PARKED, claims.stream().map(UUID::toString).collect(Collectors.joining(",")));
    }

    @Override
    public List<Count> count() {
        return query(COUNT, COUNTS);
    }

    @Override
    public Optional<ParkedClaim> find(ClaimKey key) {
        return query(FIND, PARKED, key.scope(), key.key()).stream().findFirst();
    }

    @Override
    public Optional<ParkedClaim> findByKeyHash(String scope, String hash) {
        return byHash(FIND_BY_HASH, PARKED, scope, hash);
    }

    @Override
    public Optional<ClaimDetails> details(ClaimKey key) {
        return query(DETAILS, STORED, key.scope(), key.key()).stream()
                .<ClaimDetails>map(Function.identity())
                .findFirst();
    }

    @Override
    public Optional<ClaimDetails> detailsByKeyHash(String scope, String hash) {
        return byHash(DETAILS_BY_HASH, STORED, scope, hash).map(Function.identity());
    }

    @Override
    public Optional<String> searchFor(String hash) {
        return Optional.of(table.sql(SEARCH + " {=} '" + hash + "'"));
    }

    private <T> List<T> query(String sql, RowMapper<T> mapper, Object... parameters) {
        return looking.alone(() -> statements.query(table.sql(limits + sql), mapper, parameters));
    }

    private <T> Optional<T> byHash(String sql, RowMapper<T> mapper, String scope, String hash) {
        return looking.alone(() -> statements.run(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(table.sql(limits + TAKE_TURN + sql))) {
                new Parameters(statement).values(scope, hash);
                statement.execute();
                statement.getMoreResults();
                requireTurn(statement.getResultSet());
                statement.getMoreResults();
                ResultSet row = statement.getResultSet();
                return row.next() ? Optional.ofNullable(mapper.mapRow(row, 0)) : Optional.<T>empty();
            }
        }));
    }

    private static void requireTurn(ResultSet turn) throws SQLException {
        turn.next();
        if (!turn.getBoolean(1)) {
            throw new ClaimStoreBusyException("Another lookup by hash runs on this database");
        }
    }

    @Override
    public Set<ClaimId> releaseAll(Collection<ClaimId> claims) {
        return decide(
                RELEASE,
                claims.stream()
                        .map(claim -> new ClaimResolution.Completed(claim, null))
                        .toList());
    }

    @Override
    public Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions) {
        return decide(COMPLETE, completions);
    }

    /** Writes releases or completions in one transaction. A release is passed as a completion without a result. */
    private Set<ClaimId> decide(String sql, Collection<ClaimResolution.Completed> decisions) {
        List<ClaimResolution.Completed> inOrder = decisions.stream()
                .sorted(Comparator.comparing(decision -> decision.claim().key()))
                .toList();
        // If the connection breaks, the statement is not repeated. The first try may have been committed. A second try
        // would then find no parked row, as if another operator had decided.
        Set<UUID> decided = deciding.alone(() -> statements.run(connection -> decide(connection, sql, inOrder), 1));
        return inOrder.stream()
                .map(ClaimResolution.Completed::claim)
                .filter(claim -> decided.contains(claim.value()))
                .collect(Collectors.toSet());
    }

    private Set<UUID> decide(Connection connection, String sql, List<ClaimResolution.Completed> decisions)
            throws SQLException {
        return Statements.write(connection, table.sql(limits + sql), decisions, parameters -> {
            parameters.keys(decisions, each -> each.claim().key());
            parameters.uuids(decisions, each -> each.claim().value());
            parameters.texts(decisions, ClaimResolution.Completed::result);
            parameters.longs(decisions, each -> retentionMicros);
        });
    }
}
