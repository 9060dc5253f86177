package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Action;
import io.exactlyonce.claim.KeySnapshot.Decision;
import io.exactlyonce.claim.postgres.ClaimRows;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.KeyWrite;
import io.exactlyonce.claim.postgres.Parameters;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.SameDatabase;
import io.exactlyonce.claim.postgres.Statements;
import io.exactlyonce.claim.postgres.Takeovers;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.PgCatalog;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionTimedOutException;

/**
 * Claims keys, runs the work and completes the keys in one application transaction. The transaction writes the keys'
 * rows only at its end. Until then, an advisory lock holds each key.
 *
 * <p>Two faults show when the rows are written:
 * <ul>
 *   <li>Another claim has written a key's row in the meantime. The transaction is then rolled back.
 *   <li>The work has committed or rolled back the transaction by itself. {@link #execute} then fails. If the work
 *       committed, the keys are then in doubt.
 * </ul>
 *
 * <p>If the work commits by itself, and the process then dies before the rows are written, the keys are not recorded as
 * in doubt. The work may then run again.
 */
public final class PostgresClaimTransaction implements ClaimTransaction {

    private static final Logger log = LoggerFactory.getLogger(PostgresClaimTransaction.class);

    /** PostgreSQL's values of {@code synchronous_commit}, the weakest first. */
    private static final List<String> DURABILITIES = List.of("off", "local", "remote_write", "on", "remote_apply");

    /**
     * Tries to take the advisory locks of keys, without waiting for them. Also sets {@code synchronous_commit} to the
     * value for claims, unless the session has a stronger value.
     *
     * <p>The fencing token is the time after the lock is taken. So it is higher than the tokens of all earlier owners.
     *
     * <p>On a replica, the statement fails because of {@code pg_current_xact_id}.
     */
    private static final String LOCKS = """
            SELECT wanted.position,
                   pg_catalog.pg_try_advisory_xact_lock(wanted.number {#} coalesce(
                       pg_catalog.to_regclass('{table}')::pg_catalog.oid::bigint, 0)) AS taken,
                   pg_catalog.pg_current_xact_id()::pg_catalog.text AS transaction,
                   (extract(epoch FROM pg_catalog.clock_timestamp()) {*} 1000000)::bigint AS token,
                   CASE WHEN pg_catalog.current_setting('synchronous_commit') {=} ANY (ARRAY['%s'])
                       THEN pg_catalog.set_config('synchronous_commit', '%s', true) END AS durability,
                   pg_catalog.current_setting('transaction_read_only') AS read_only, %s
            FROM %s""";

    /** Selects the lock number of one key. */
    private static final String ONE_NUMBER = "(SELECT ?::bigint AS number, 1 AS position) AS wanted";

    /**
     * Selects the lock numbers of several keys. The array is in a subquery, because PostgreSQL would otherwise make a
     * new plan for each execution.
     */
    private static final String NUMBERS =
            "pg_catalog.unnest((SELECT ?::bigint[])) WITH ORDINALITY AS wanted (number, position)";

    /**
     * Tries to take the locks with one statement, and reads the rows with the next one. The second statement begins
     * after the locks were taken, so it sees all commits of earlier owners.
     *
     * <p>The first statement also forbids sequential scans. Otherwise, the second statement may read the whole table,
     * if PostgreSQL's statistics are from a time when the table was nearly empty. The second statement then restores
     * the setting for the statements of the work.
     */
    private static final String LOCKS_AND_ROWS =
            LOCKS + ", (" + Statements.ONLY_BY_INDEX + ") AS planning;\n" + "SELECT w.n, c.* FROM %s";

    private static final String ROWS = "(" + Statements.AS_BEFORE + ") AS planning, " + ClaimRows.BY_KEY;

    /**
     * Inserts completed rows. In two cases, the statement fails on purpose, so that a {@code COMMIT} after it has no
     * effect:
     * <ul>
     *   <li>The work has committed or rolled back the transaction by itself. The transaction id has then changed, and
     *       the statement divides by zero.
     *   <li>Another claim has inserted the key first. The statement then violates the primary key.
     * </ul>
     */
    private static final String INSERT = """
            INSERT INTO {table} (claim_id, owner, attempt, fencing_token, in_doubt, fingerprint, expires_at,
                                 result, scope, key, status, lease_until, first_claimed_at, claimed_at, completed_at)
            VALUES (?, ?, ? {/} (pg_catalog.pg_current_xact_id() {=} ?::pg_catalog.xid8)::int, ?, ?, pg_catalog.decode(?, 'hex'),
                    pg_catalog.now() {+} (? {*} interval '1 microsecond'), ?,
                    ?, ?, 'COMPLETED', pg_catalog.now(), pg_catalog.now(), pg_catalog.now(), pg_catalog.clock_timestamp())""";

    private static final String IS_COMMITTED =
            PgCatalog.sql("SELECT coalesce(pg_catalog.pg_xact_status(?::pg_catalog.xid8) {=} 'committed', false)");

    private static final String IS_WITHIN =
            PgCatalog.sql("SELECT pg_catalog.pg_current_xact_id_if_assigned() {=} ?::pg_catalog.xid8");

    private final ApplicationTransactions transactions;
    private final JdbcTemplate jdbc;
    private final ClaimTable table;
    private final Statements claims;
    private final ClaimWhereabouts whereabouts;
    private final TransactionFailures failures;
    private final PostgresClaimStore store;
    private final Takeovers takeovers;
    private final Duration retention;
    private final Supplier<String> lookup;
    private final Supplier<String> lookupOfOne;
    private final Supplier<String> insert;
    private final Supplier<String> insertAndCommit;

    /** PostgreSQL's transaction ids of the claims whose work is running. */
    private final Map<ClaimId, String> working = new ConcurrentHashMap<>();

    /**
     * @param transactions runs the application's transactions
     * @param table the claim table
     */
    public PostgresClaimTransaction(ApplicationTransactions transactions, ClaimTable table) {
        this.transactions = transactions;
        this.jdbc = new JdbcTemplate(transactions.dataSource());
        this.table = table;
        this.claims = table.statements();
        SameDatabase database = new SameDatabase(table);
        this.whereabouts = new ClaimWhereabouts(database, transactions.seen());
        this.failures = new TransactionFailures(database, whereabouts);
        this.store = new PostgresClaimStore(table);
        this.takeovers = new Takeovers(table, Statements::within);
        this.retention = table.retention();
        this.insert = table.later(INSERT);
        this.insertAndCommit = table.later(INSERT + ";\nCOMMIT");
        this.lookup = table.later(statements(NUMBERS, ROWS));
        this.lookupOfOne = table.later(statements(ONE_NUMBER, ClaimRows.BY_ONE_KEY));
    }

    private String statements(String numbers, String rows) {
        String durability = table.synchronousCommit().setting();
        List<String> weaker = DURABILITIES.subList(0, DURABILITIES.indexOf(durability));
        return (transactions.seen().hasOneSnapshot() ? LOCKS : LOCKS_AND_ROWS)
                .formatted(String.join("', '", weaker), durability, ClaimWhereabouts.TABLE, numbers, rows);
    }

    @Override
    public boolean isWithin(ClaimId claim) {
        return Boolean.TRUE.equals(jdbc.queryForObject(IS_WITHIN, Boolean.class, working.get(claim)));
    }

    @Override
    public @Nullable Pool pool() {
        return transactions.pool();
    }

    @Override
    public boolean isAftermath(Throwable failure) {
        return TransactionFailures.isAftermath(failure);
    }

    @Override
    public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
        Look look = new Look(requests);
        TransactionStatus status = begin(look);
        try {
            read(look);
            if (!look.free.isEmpty()) {
                Map<ClaimId, String> results = work.run(List.copyOf(look.outcomes));
                requireCommittable(look, status);
                complete(look, results);
            }
            transactions.manager().commit(status);
        } catch (Exception failure) {
            Exception thrown = isLost(status, failure) ? look.unavailable("lost its connection", failure) : failure;
            if (look.free.isEmpty() || !isCompleted(look, thrown)) {
                throw thrown;
            }
        } finally {
            look.free.forEach(free -> working.remove(free.request.id()));
            // The connection must return to its pool even after an Error.
            if (!status.isCompleted()) {
                transactions.manager().rollback(status);
            }
        }
        return look.outcomes;
    }

    private TransactionStatus begin(Look look) {
        try {
            return transactions.begin();
        } catch (RuntimeException failure) {
            throw unclaimed(look, failure);
        }
    }

    private RuntimeException unclaimed(Look look, RuntimeException failure) {
        return TransactionFailures.isOutage(failure)
                ? look.unavailable("got no answer", failure)
                : failures.unclaimed(look, failure, () -> store.rows(look.keys));
    }

    /**
     * Returns whether the transaction's connection was lost. The exception that the work threw may not show this. So
     * this method rolls back the transaction if it is still open. If the rollback fails, the connection was lost.
     */
    private boolean isLost(TransactionStatus status, Exception failure) {
        if (status.isCompleted()) {
            return Statements.isConnectionLost(failure);
        }
        try {
            transactions.manager().rollback(status);
            return false;
        } catch (RuntimeException connectionLost) {
            failure.addSuppressed(connectionLost);
            return true;
        }
    }

    /** Takes the locks and reads the rows in one round trip. Then decides on each request. */
    private void read(Look look) {
        if (!transactions.isBound()) {
            // Outside a transaction, PostgreSQL would release the locks right after the statement.
            throw new ClaimTransactionException(
                    "%s is not one of the DataSource that transaction manager %s used at startup; let the manager begin one there"
                            .formatted(look, transactions.manager()),
                    null);
        }
        try {
            Supplier<String> sql = look.keys.size() == 1 ? lookupOfOne : lookup;
            jdbc.execute(sql.get(), (PreparedStatement statement) -> {
                whereabouts.requireDatabase(statement.getConnection(), jdbc, look);
                bindKeys(statement, look.keys);
                statement.execute();
                look.locked(statement.getResultSet(), whereabouts);
                if (transactions.seen().hasOneSnapshot()) {
                    // All statements of this transaction see the database as it was before the locks were taken, so the
                    // rows that they see may be old. The store reads the rows of these keys in another transaction,
                    // which sees the newest. If another worker inserts a row for a key after that, the completion of
                    // this work fails on purpose, because it violates the primary key.
                    look.rows = store.rows(look.keys);
                } else {
                    statement.getMoreResults();
                    look.rows = ClaimRows.read(statement.getResultSet(), look.keys);
                }
                return true;
            });
            for (ClaimRequest request : look.requests) {
                look.outcomes.add(decide(look, request));
            }
        } catch (DataAccessException | TransactionTimedOutException failure) {
            throw unclaimed(look, failure);
        }
    }

    private void bindKeys(PreparedStatement statement, List<ClaimKey> keys) throws SQLException {
        Parameters parameters = new Parameters(statement);
        boolean readsRows = !transactions.seen().hasOneSnapshot();
        if (keys.size() == 1) {
            ClaimKey key = keys.get(0);
            parameters.values(SameDatabase.number(key));
            if (readsRows) {
                parameters.values(key.scope(), key.key());
            }
        } else {
            parameters.longs(keys, SameDatabase::number);
            if (readsRows) {
                parameters.keys(keys, each -> each);
            }
        }
    }

    private ClaimOutcome decide(Look look, ClaimRequest request) {
        KeySnapshot row = look.rows.get(request.key());
        Decision decision = row == null ? Decision.first(look.token) : row.decide(request);
        if (decision.action() == Action.REFUSE) {
            return decision.outcome();
        }
        if (!look.locks.remove(request.key()) || decision.action() == Action.RENEW) {
            // Another owner holds the key, for an unknown time. The request's own lease is returned as an estimate of
            // this time. If this request has claimed the key before, outside the transaction, that claim is treated
            // like another owner's.
            return new HeldElsewhere(request.lease());
        }
        KeyWrite known = row == null ? null : new KeyWrite(request, row, decision);
        if (known != null && decision.action() == Action.PARK) {
            boolean parked = jdbc.execute((Connection connection) ->
                    !takeovers.parkInDoubt(connection, List.of(known)).isEmpty());
            return parked ? decision.outcome() : new HeldElsewhere(Duration.ZERO);
        }
        look.free.add(new Free(request, known, decision.claim()));
        working.put(request.id(), look.transaction);
        return decision.outcome();
    }

    /**
     * Writes the completed rows: first new rows, then existing rows, each in key order. A single new row may be sent
     * together with the {@code COMMIT}.
     */
    private void complete(Look look, Map<ClaimId, String> results) {
        try {
            if (look.free.size() == 1 && look.free.get(0).known == null && transactions.mayCommitByStatement()) {
                jdbc.update(insertAndCommit.get(), statement -> bind(statement, look.free.get(0), look, results));
                return;
            }
            look.free.sort(Comparator.comparing(free -> free.request.key()));
            insert(look, results);
            update(look, results);
        } catch (DataAccessException failure) {
            throw refused(look, failure);
        }
    }

    private void insert(Look look, Map<ClaimId, String> results) {
        jdbc.execute(insert.get(), (PreparedStatement statement) -> {
            for (Free free : look.free) {
                if (free.known == null) {
                    bind(statement, free, look, results);
                    statement.addBatch();
                }
            }
            try {
                return statement.executeBatch();
            } catch (BatchUpdateException failure) {
                // The exception of a batch quotes the statement with its parameters. The server's own exception does
                // not.
                throw failure.getNextException() == null ? failure : failure.getNextException();
            }
        });
    }

    private void bind(PreparedStatement statement, Free free, Look look, Map<ClaimId, String> results)
            throws SQLException {
        ClaimRequest request = free.request;
        Parameters parameters = new Parameters(statement);
        parameters.values(request.claimId(), request.owner(), free.claim.attempt(), look.transaction);
        parameters.values(free.claim.fencingToken(), free.claim.inDoubt(), request.fingerprint());
        parameters.values(Statements.micros(request.retentionOr(retention)));
        parameters.values(
                results.get(request.id()), request.key().scope(), request.key().key());
    }

    private void update(Look look, Map<ClaimId, String> results) {
        List<KeyWrite> keys = new ArrayList<>();
        for (Free free : look.free) {
            if (free.known != null) {
                keys.add(free.known);
            }
        }
        boolean completed = Boolean.TRUE.equals(jdbc.execute((Connection connection) ->
                takeovers.complete(connection, keys, look.transaction, results).size() == keys.size()));
        if (!completed) {
            throw look.forestalled();
        }
    }

    /** Checks after the work that the transaction can still be committed. */
    private void requireCommittable(Look look, TransactionStatus status) {
        transactions.requireInTime();
        if (status.isRollbackOnly()) {
            throw RollbackCause.doomed(look);
        }
    }

    /**
     * Returns the exception for completions that PostgreSQL rejected. PostgreSQL's messages about the claim table are
     * left out, because they would quote the key.
     */
    private RuntimeException refused(Look look, DataAccessException failure) {
        ClaimTransactionException handlers = failures.uncompleted(look, failure);
        if (handlers != null) {
            return handlers;
        }
        return switch (ClaimPool.sqlState(failure)) {
            // 22012 is the division by zero.
            case "22012" ->
                new ClaimTransactionException(
                        look
                                + " ended before its handler did, so its writes are not atomic with the claim: a handler with"
                                + " effects = DATABASE must neither commit nor roll back by itself",
                        null);
            // 23505 is a violation of a unique key.
            case "23505" -> table.isCauseOf(failure) ? look.forestalled() : failure;
            default -> table.isCauseOf(failure) ? refusedByTable(look, failure) : failure;
        };
    }

    private RuntimeException refusedByTable(Look look, DataAccessException failure) {
        return Statements.isUnstorable(failure)
                ? Statements.unstorable(failure)
                : new ClaimTransactionException(
                        "%s is rolled back: table %s refuses the row of its completion (SQLSTATE %s); remove the constraint or trigger that its cause names"
                                .formatted(look, table.name(), ClaimPool.sqlState(failure)),
                        PrintableException.of(failure));
    }

    /**
     * Finds out whether the transaction was committed although an exception was thrown. For example, the reply to the
     * commit was lost, or a step after the commit failed.
     *
     * <p>If the work committed the transaction by itself and then failed, this method records the keys as in doubt.
     *
     * @return true if the completions are committed; false if they are not, or if there is no answer
     */
    private boolean isCompleted(Look look, Exception failure) {
        List<ClaimRequest> requests = look.free.stream().map(Free::request).toList();
        ClaimKey key = requests.get(0).key();
        try {
            if (!claims.ask(IS_COMMITTED, Boolean.class, look.transaction)) {
                return false;
            }
            KeySnapshot row = store.rows(List.of(key)).get(key);
            if (row != null && row.claimId().equals(requests.get(0).claimId())) {
                log.warn(
                        "{} failed after its commit, so its effects and completions stay",
                        look,
                        PrintableException.of(failure));
                return true;
            }
            log.error(
                    "{} was committed by its handler, which then failed: its writes stay, and its keys are in doubt",
                    look);
            store.claim(requests);
            // If another claim owns a key by now, the store does not change that key.
            store.resolve(requests.stream()
                    .map(request -> new ClaimResolution.Released(request.id(), "its handler committed by itself", true))
                    .toList());
        } catch (RuntimeException unanswered) {
            failure.addSuppressed(unanswered);
        }
        return false;
    }

    /**
     * A free key that this transaction completes.
     *
     * @param known the key's row; {@code null} if it has none
     */
    private record Free(ClaimRequest request, @Nullable KeyWrite known, Acquired claim) {}

    private static final class Look {

        private final List<ClaimRequest> requests;
        private final List<ClaimKey> keys;
        private final List<ClaimOutcome> outcomes = new ArrayList<>();
        private final List<Free> free = new ArrayList<>();

        /**
         * The keys whose locks this transaction has taken, and that no request has used yet. If a request finds its key
         * missing here, its outcome is that the key is held elsewhere.
         */
        private final Set<ClaimKey> locks = new HashSet<>();

        private Map<ClaimKey, KeySnapshot> rows = Map.of();
        private String transaction = "";
        private long token;

        Look(List<ClaimRequest> requests) {
            this.requests = requests;
            this.keys = requests.stream().map(ClaimRequest::key).toList();
        }

        /** Reads which locks were taken. Requires that the transaction may write, and that it sees the claim table. */
        void locked(ResultSet row, ClaimWhereabouts whereabouts) throws SQLException {
            while (row.next()) {
                whereabouts.requireTable(row.getLong("claim_table"), row.getBoolean("hides_rows"), this);
                if (row.getString("read_only").equals("on")) {
                    throw new TransientDataAccessResourceException("Claims need more than a read-only transaction");
                }
                transaction = row.getString("transaction");
                token = Math.max(token, row.getLong("token"));
                if (row.getBoolean("taken")) {
                    locks.add(keys.get(row.getInt("position") - 1));
                }
            }
        }

        ClaimStoreUnavailableException unavailable(String why, Exception failure) {
            return new ClaimStoreUnavailableException(this + " " + why, failure);
        }

        ConcurrencyFailureException forestalled() {
            return new ConcurrencyFailureException(this
                    + " is rolled back, because another claim of a key was written meanwhile: listeners of one scope should"
                    + " have the same effects");
        }

        @Override
        public String toString() {
            return "The transaction of " + keys;
        }
    }
}
