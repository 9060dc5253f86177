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
 * Claims, works and completes in one transaction of the application's transaction manager, which writes a key's row
 * once, at its end. Until then, its advisory lock holds the key.
 *
 * <p>The row decides: if another claim has inserted or changed a key since it was read, the transaction is rolled back.
 * Work that commits or rolls back by itself is detected by the transaction's number, and its commits leave the key in
 * doubt, unless its process dies before it ends.
 */
public final class PostgresClaimTransaction implements ClaimTransaction {

    private static final Logger log = LoggerFactory.getLogger(PostgresClaimTransaction.class);

    /** PostgreSQL's settings of synchronous_commit, the weakest first. */
    private static final List<String> DURABILITIES = List.of("off", "local", "remote_write", "on", "remote_apply");

    /**
     * Never waits. The commit waits as long as commits of claims, or longer if the session is set so. The clock is read
     * after the lock is taken; otherwise a transaction that rolled back meanwhile could have a higher fencing token. On
     * a replica the transaction number fails. The array comes from a subquery, so that the planner does not count its
     * entries: it would plan each execution anew.
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
            FROM pg_catalog.unnest((SELECT ?::bigint[])) WITH ORDINALITY AS wanted (number, position)""";

    /**
     * The rows' snapshot is younger than the locks: it shows all commits of their last owners. If the table was
     * analyzed while nearly empty, the planner would choose a scan of the whole table, and the driver's prepared
     * statement would keep that plan; so the locks' statement forbids it. The rows' statement, planned before it runs,
     * restores the setting for the work's own statements.
     */
    private static final String LOCKS_AND_ROWS = LOCKS + ", (" + Statements.ONLY_BY_INDEX + ") AS planning;\n"
            + "SELECT w.n, c.* FROM (" + Statements.AS_BEFORE + ") AS planning, " + ClaimRows.BY_KEY;

    /**
     * A transaction other than the one that has the locks divides by zero: the work has committed or rolled back by itself. A key
     * that another claim has inserted meanwhile violates the primary key. Either aborts, so that a {@code COMMIT} behind it is
     * not run.
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
    private final Supplier<String> look;
    private final Supplier<String> insert;
    private final Supplier<String> insertAndCommit;

    /** The numbers of the transactions that are open. */
    private final Map<ClaimId, String> working = new ConcurrentHashMap<>();

    /**
     * @param transactions the application's
     * @param table of the same database, reached outside these transactions
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
        String durability = table.synchronousCommit().setting();
        List<String> weaker = DURABILITIES.subList(0, DURABILITIES.indexOf(durability));
        this.look = table.later((transactions.seen().hasOneSnapshot() ? LOCKS : LOCKS_AND_ROWS)
                .formatted(String.join("', '", weaker), durability, ClaimWhereabouts.TABLE));
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
            // The connection returns to its pool even after a crash.
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
     * Rolls back an open transaction, and returns whether the connection was lost: work that breaks its connection may
     * throw anything. A failed rollback counts as no answer: a message on its last receive waits for one.
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

    /** Takes the locks and reads the rows, in one round trip, and decides. */
    private void read(Look look) {
        if (!transactions.isBound()) {
            // The locks would be released before the work begins.
            throw new ClaimTransactionException(
                    "%s is not one of the DataSource that transaction manager %s used at startup; let the manager begin one there"
                            .formatted(look, transactions.manager()),
                    null);
        }
        try {
            jdbc.execute(this.look.get(), (PreparedStatement statement) -> {
                whereabouts.requireDatabase(statement.getConnection(), jdbc, look);
                Parameters parameters = new Parameters(statement);
                parameters.longs(look.keys, SameDatabase::number);
                if (!transactions.seen().hasOneSnapshot()) {
                    parameters.keys(look.keys, key -> key);
                }
                statement.execute();
                look.locked(statement.getResultSet(), whereabouts);
                if (transactions.seen().hasOneSnapshot()) {
                    // The transaction's snapshot may be older than the lock, and a row that it reads and misses
                    // conflicts with keys
                    // beside it.
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

    private ClaimOutcome decide(Look look, ClaimRequest request) {
        KeySnapshot row = look.rows.get(request.key());
        Decision decision = row == null ? Decision.first(look.token) : row.decide(request);
        if (decision.action() == Action.REFUSE) {
            return decision.outcome();
        }
        if (!look.locks.remove(request.key()) || decision.action() == Action.RENEW) {
            // The owner's remaining time is unknown, so the length of a lease is the estimate. A claim that this
            // request has
            // made outside of the transaction is another owner, too.
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

    /** Writes the rows in key order, in one round trip. Includes the commit if nothing else has to be written at the commit. */
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
                // The batch's exception quotes the statement with its parameters. Its cause does not.
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

    /** Requires that the work has left a transaction that can be committed, before its completions are written. */
    private void requireCommittable(Look look, TransactionStatus status) {
        transactions.requireInTime();
        if (status.isRollbackOnly()) {
            throw RollbackCause.doomed(look);
        }
    }

    /** Returns an exception without PostgreSQL's own message, which would quote the key. */
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
     * Returns whether the completions are committed despite the failure: the commit's reply was lost, or something
     * failed after it. Effects that the work has committed by itself are in doubt, also if it failed then.
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
            log.error("{} was committed by its handler, which then failed: its writes stay, and are in doubt", look);
            store.claim(requests);
            // The statement does not change a key that another claim owns by now.
            store.resolve(requests.stream()
                    .map(request -> new ClaimResolution.Released(request.id(), "its handler committed by itself", true))
                    .toList());
        } catch (RuntimeException unanswered) {
            failure.addSuppressed(unanswered);
        }
        return false;
    }

    /**
     * A key that is free, and that this transaction completes.
     *
     * @param known its row, which is taken over; {@code null} if there is none
     */
    private record Free(ClaimRequest request, @Nullable KeyWrite known, Acquired claim) {}

    /** The keys of one transaction. */
    private static final class Look {

        private final List<ClaimRequest> requests;
        private final List<ClaimKey> keys;
        private final List<ClaimOutcome> outcomes = new ArrayList<>();
        private final List<Free> free = new ArrayList<>();

        /** Outcomes of undecided keys. A second request for a key finds it held by the first one. */
        private final Set<ClaimKey> locks = new HashSet<>();

        private Map<ClaimKey, KeySnapshot> rows = Map.of();
        private String transaction = "";
        private long token;

        Look(List<ClaimRequest> requests) {
            this.requests = requests;
            this.keys = requests.stream().map(ClaimRequest::key).toList();
        }

        /** Reads who has the locks. */
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
