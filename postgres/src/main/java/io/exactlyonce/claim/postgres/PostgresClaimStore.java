package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimResolution.Completed;
import io.exactlyonce.claim.ClaimResolution.Parked;
import io.exactlyonce.claim.ClaimResolution.Released;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.FencingClaimStore;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.KeyStatus;
import io.exactlyonce.claim.LeaseRenewal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps claims in one PostgreSQL table, with one row per key.
 *
 * <p>A batch takes up to three rounds. Each round first tries to write all requests and resolutions that are still
 * open, in one round trip and without reading. This usually succeeds. If some could not be written, the round reads the
 * rows of their keys. Then it answers requests for completed keys, for example, and takes over keys whose lease has
 * expired.
 *
 * <p>All statements run in transactions of the store's own, except {@link #fence(ClaimId)}.
 *
 * <p>Guaranteed: everything that {@link ClaimStore} guarantees, as long as a key's row exists and the DataSource
 * connects to one primary. The database's clock decides when a lease ends.
 *
 * <p>Not guaranteed: anything after a failover to an asynchronous replica that loses commits, or after the database's
 * clock was set back. If PostgreSQL cannot store one entry (for example a text with a NUL character), the whole batch
 * fails.
 */
public final class PostgresClaimStore implements FencingClaimStore {

    /**
     * Limit of rounds for each batch. If other writers use the same keys, two rounds usually suffice. The third round
     * helps if a row changes again, or stays locked.
     */
    private static final int ROUNDS = 3;

    /**
     * Limit of keys in one lookup. Each key may need an advisory lock, and all applications of the server share some
     * thousands of these locks.
     */
    private static final int LOOKED_AT_ONCE = 500;

    /**
     * Inserts the first claim of each key. The fencing token is the database's time in microseconds. So it is higher
     * than all earlier tokens of the key, even if the key's row was deleted before.
     *
     * <p>If another transaction is inserting the same key, the statement waits for it, for at most one second.
     */
    static final String CLAIM = """
            INSERT INTO {table} (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                 fingerprint, lease_until, first_claimed_at, claimed_at, expires_at)
            SELECT w.scope, w.key, 'HELD', w.claim_id, w.owner, 1, (extract(epoch FROM clock.now) {*} 1000000)::bigint, false,
                   pg_catalog.decode(w.fingerprint, 'hex'), clock.now {+} (w.lease_micros {*} interval '1 microsecond'), clock.now, clock.now,
                   clock.now {+} (w.retention_micros {*} interval '1 microsecond')
            FROM (SELECT pg_catalog.clock_timestamp() AS now, pg_catalog.set_config('synchronous_commit', '%s', true),
                         pg_catalog.set_config('lock_timeout', '1s', true)) AS clock,
                 unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.uuid[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::bigint[]),
                        (SELECT ?::pg_catalog.text[]), (SELECT ?::bigint[]))
                     AS w (scope, key, claim_id, owner, lease_micros, fingerprint, retention_micros)
            ON CONFLICT (scope, key) DO NOTHING
            RETURNING claim_id, fencing_token""";

    /**
     * Finds and locks the rows of claims that still hold their keys.
     *
     * <p>{@code LIMIT 1} makes PostgreSQL look up each key by the primary key, instead of reading the whole table. Rows
     * that another transaction has locked are skipped, because a batch must not wait for them.
     *
     * <p>The lease is not compared, because an expired claim holds its key until another claim takes over.
     */
    private static final String HELD = """
            CROSS JOIN LATERAL (
                SELECT %s FROM {table} AS c
                WHERE c.scope {=} w.scope AND c.key {=} w.key AND c.claim_id {=} w.claim_id AND c.status {=} 'HELD'
                LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
            ) AS held OFFSET 0) AS w
            WHERE %s
            RETURNING claim.claim_id""".formatted(ClaimTable.PLACE, ClaimTable.AT_PLACE);

    /**
     * Completes, releases or parks claims. Only a parked claim may have a {@code parked_at}, because the index on this
     * column must contain no other rows.
     */
    static final String END = """
            UPDATE {table} AS claim
            SET status = w.status, result = w.result, error = coalesce(w.error, claim.error),
                in_doubt = claim.in_doubt OR w.in_doubt, failures = claim.failures {+} w.threw::int,
                completed_at = CASE WHEN w.status {=} 'COMPLETED' THEN pg_catalog.clock_timestamp() END,
                parked_at = CASE WHEN w.status {=} 'PARKED' THEN pg_catalog.clock_timestamp() END
            FROM (SELECT w.*, held.*
                  FROM unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.uuid[]), (SELECT ?::pg_catalog.text[]),
                              (SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::boolean[]), (SELECT ?::boolean[]))
                       AS w (scope, key, claim_id, status, result, error, in_doubt, threw)
            """ + HELD;

    static final String RENEW = """
            UPDATE {table} AS claim
            SET lease_until = pg_catalog.clock_timestamp() {+} (w.lease_micros {*} interval '1 microsecond')
            FROM (SELECT w.*, held.*
                  FROM unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.uuid[]), (SELECT ?::bigint[]))
                       AS w (scope, key, claim_id, lease_micros)
            """ + HELD;

    /**
     * Reads the states of keys for waiting deliveries, but does not claim the keys.
     *
     * <p>Without a running lease, a key counts as held in two cases:
     * <ul>
     *   <li>A claim transaction works on the key, and has not committed its row yet. That transaction holds the key's
     *       advisory lock, so the lookup tries this lock. Lookups use shared mode, so that they do not block each
     *       other.
     *   <li>The row is free, but another transaction has locked it. That transaction is writing the row, or the former
     *       owner has fenced it.
     * </ul>
     *
     * <p>In two rare races, a message is received one more time than necessary:
     * <ul>
     *   <li>A lookup has the key's lock at the moment at which a transaction tries to claim the key.
     *   <li>A transaction commits after the lookup has read the row, and before the lookup tries the lock. The
     *       completed key then appears free.
     * </ul>
     *
     * <p>The {@code UPDATE} changes no row, but makes the statement a write. So a proxy sends the statement to the
     * primary, and a replica rejects it.
     */
    static final String LOOK = """
            WITH on_the_primary AS (UPDATE {table} SET owner = owner WHERE false)
            SELECT w.n,
                   CASE
                       WHEN claim.status {=} 'COMPLETED' OR claim.status {=} 'PARKED' THEN claim.status
                       WHEN claim.status {=} 'HELD' AND claim.lease_until {>} pg_catalog.clock_timestamp() THEN 'HELD'
                       WHEN NOT pg_catalog.pg_try_advisory_xact_lock_shared(
                           w.lock {#} '{table}'::pg_catalog.regclass::pg_catalog.oid::bigint) THEN 'HELD'
                       WHEN claim.status IS NULL OR EXISTS (
                           SELECT 1 FROM {table} AS c
                           WHERE c.scope {=} w.scope AND c.key {=} w.key FOR UPDATE SKIP LOCKED) THEN 'FREE'
                       ELSE 'HELD'
                   END AS state,
                   claim.fingerprint
            FROM unnest((SELECT ?::pg_catalog.text[]), (SELECT ?::pg_catalog.text[]), (SELECT ?::bigint[])) WITH ORDINALITY AS w (scope, key, lock, n)
            LEFT JOIN LATERAL (
                SELECT c.status, c.lease_until, pg_catalog.encode(c.fingerprint, 'hex') AS fingerprint
                FROM {table} AS c WHERE c.scope {=} w.scope AND c.key {=} w.key LIMIT 1
            ) AS claim ON true""";

    private final Statements statements;
    private final Takeovers takeovers;
    private final Fence fence;
    private final Duration retention;
    private final Supplier<String> claim;
    private final Supplier<String> end;
    private final Supplier<String> claimAndEnd;
    private final Supplier<String> renew;
    private final Supplier<String> rows;
    private final Supplier<String> look;

    public PostgresClaimStore(ClaimTable table) {
        this.statements = table.statements();
        this.takeovers = new Takeovers(table, table::alone);
        this.fence = new Fence(table);
        this.retention = table.retention();
        String first = CLAIM.formatted(table.synchronousCommit().setting());
        String ends = table.alone(END);
        this.claim = table.later(first);
        this.end = table.later(ends);
        this.claimAndEnd = table.later(first + ";\n" + ends);
        this.renew = table.later(table.alone(RENEW));
        this.rows = table.later(table.alone(ClaimRows.OF_KEYS));
        this.look = table.later(table.alone(LOOK));
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return apply(new ClaimBatch(List.of(), requests)).claimed();
    }

    @Override
    public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
        return apply(new ClaimBatch(List.copyOf(resolutions), List.of())).resolved();
    }

    @Override
    public ClaimBatch.Result apply(ClaimBatch batch) {
        return statements.run(connection -> {
            OpenBatch open = new OpenBatch(batch);
            for (int round = 0; round < ROUNDS && open.isLeft(); round++) {
                write(connection, open);
                if (open.isLeft()) {
                    decide(connection, open);
                }
            }
            return open.result();
        });
    }

    /**
     * Tries to write all open requests and resolutions in one round trip. A request waits if another transaction is
     * writing the same key. Resolutions do not wait, because two batches could otherwise wait for each other.
     */
    private void write(Connection connection, OpenBatch open) throws SQLException {
        boolean claims = !open.claims().isEmpty();
        boolean ends = !open.resolutions().isEmpty();
        Supplier<String> sql = claims ? ends ? claimAndEnd : claim : end;
        try (PreparedStatement statement = connection.prepareStatement(sql.get())) {
            Parameters parameters = new Parameters(statement);
            if (claims) {
                bindClaims(parameters, open.claims());
            }
            if (ends) {
                bindEnds(parameters, open.resolutions());
            }
            statement.execute();
            if (claims) {
                open.claimed(statement.getResultSet());
                statement.getMoreResults();
            }
            if (ends) {
                statement.getMoreResults();
                open.ended(Statements.ids(statement.getResultSet()));
            }
        }
    }

    private void bindClaims(Parameters parameters, List<ClaimRequest> claims) throws SQLException {
        parameters.keys(claims, ClaimRequest::key);
        parameters.uuids(claims, ClaimRequest::claimId);
        parameters.texts(claims, ClaimRequest::owner);
        parameters.longs(claims, each -> Statements.micros(each.lease()));
        parameters.texts(claims, ClaimRequest::fingerprint);
        parameters.longs(claims, each -> Statements.micros(each.retentionOr(retention)));
    }

    private static void bindEnds(Parameters parameters, List<ClaimResolution> resolutions) throws SQLException {
        parameters.keys(resolutions, each -> each.claim().key());
        parameters.uuids(resolutions, each -> each.claim().value());
        parameters.texts(resolutions, each -> status(each).name());
        parameters.texts(resolutions, each -> each instanceof Completed completed ? completed.result() : null);
        parameters.texts(resolutions, PostgresClaimStore::error);
        parameters.booleans(resolutions, ClaimResolution::inDoubt);
        parameters.booleans(resolutions, ClaimResolution::threw);
    }

    static KeyStatus status(ClaimResolution resolution) {
        return resolution instanceof Completed
                ? KeyStatus.COMPLETED
                : resolution instanceof Released ? KeyStatus.RELEASED : KeyStatus.PARKED;
    }

    /** Returns the error text that operators see; {@code null} for a success. */
    private static @Nullable String error(ClaimResolution resolution) {
        return resolution instanceof Released released
                ? released.error()
                : resolution instanceof Parked parked ? parked.reason() : null;
    }

    /**
     * Reads the rows of the entries that could not be written, and writes what the rows permit. If a row changes in
     * between, its entry stays open for the next round.
     */
    private void decide(Connection connection, OpenBatch open) throws SQLException {
        List<KeyWrite> writable = open.decide(rows(connection, open.keys()));
        List<LeaseRenewal> own = new ArrayList<>();
        List<KeyWrite> free = new ArrayList<>();
        List<KeyWrite> inDoubt = new ArrayList<>();
        for (KeyWrite key : writable) {
            switch (key.decision().action()) {
                // The request already owns this key. Its caller counts the lease from now, so the lease in the row
                // starts again, too.
                case RENEW ->
                    own.add(new LeaseRenewal(key.request().id(), key.request().lease()));
                case PARK -> inDoubt.add(key);
                default -> free.add(key);
            }
        }
        Set<UUID> written = new HashSet<>(renewOnce(connection, own));
        written.addAll(takeovers.takeOver(connection, free));
        written.addAll(takeovers.parkInDoubt(connection, inDoubt));
        open.answer(writable, written);
    }

    /** Reads the existing rows of keys. */
    public Map<ClaimKey, KeySnapshot> rows(List<ClaimKey> keys) {
        return statements.run(connection -> rows(connection, keys));
    }

    private Map<ClaimKey, KeySnapshot> rows(Connection connection, List<ClaimKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(rows.get())) {
            return ClaimRows.read(statement, keys);
        }
    }

    @Override
    public ClaimAnswers renew(List<LeaseRenewal> leases) {
        List<LeaseRenewal> inOrder = new ArrayList<>(leases);
        inOrder.sort(Comparator.comparing(renewal -> renewal.claim().key()));
        return statements.run(connection -> {
            Set<UUID> renewed = renewOnce(connection, inOrder);
            Set<ClaimId> held = new HashSet<>();
            Set<ClaimId> others = new HashSet<>();
            for (LeaseRenewal renewal : inOrder) {
                (renewed.contains(renewal.claim().value()) ? held : others).add(renewal.claim());
            }
            return new ClaimAnswers(held, stillHeld(connection, others), null);
        });
    }

    private Set<UUID> renewOnce(Connection connection, List<LeaseRenewal> leases) throws SQLException {
        return Statements.write(connection, renew.get(), leases, parameters -> {
            parameters.keys(leases, each -> each.claim().key());
            parameters.uuids(leases, each -> each.claim().value());
            parameters.longs(leases, each -> Statements.micros(each.lease()));
        });
    }

    /**
     * Returns the claims that still hold their keys, but could not be renewed, because another transaction had locked
     * their rows. The next renewal may succeed.
     */
    private Set<ClaimId> stillHeld(Connection connection, Set<ClaimId> claims) throws SQLException {
        Map<ClaimKey, KeySnapshot> found = claims.isEmpty()
                ? Map.of()
                : rows(connection, claims.stream().map(ClaimId::key).toList());
        claims.removeIf(claim -> {
            KeySnapshot row = found.get(claim.key());
            return row == null || !row.isHeldBy(claim.value());
        });
        return claims;
    }

    @Override
    public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        List<ClaimKey> asked = List.copyOf(keys);
        Map<ClaimKey, KeyState> states = new HashMap<>();
        int from = 0;
        do {
            List<ClaimKey> portion = asked.subList(from, Math.min(from + LOOKED_AT_ONCE, asked.size()));
            states.putAll(statements.run(connection -> peek(connection, portion)));
            from += LOOKED_AT_ONCE;
        } while (from < asked.size());
        return states;
    }

    private Map<ClaimKey, KeyState> peek(Connection connection, List<ClaimKey> keys) throws SQLException {
        Map<ClaimKey, KeyState> states = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(look.get())) {
            Parameters parameters = new Parameters(statement);
            parameters.keys(keys, key -> key);
            parameters.longs(keys, SameDatabase::number);
            ResultSet row = Statements.answer(statement);
            while (row.next()) {
                KeyState.Status status = KeyState.Status.valueOf(row.getString("state"));
                states.put(keys.get(row.getInt("n") - 1), new KeyState(status, row.getString("fingerprint")));
            }
        }
        return states;
    }

    @Override
    public boolean fence(ClaimId claim) {
        return fence.lock(claim);
    }
}
