package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.postgres.ClaimRow;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.SameDatabase;
import io.exactlyonce.claim.postgres.Statements;
import io.exactlyonce.claim.postgres.Takeovers;
import io.exactlyonce.claim.postgres.Takeovers.FreeKey;
import io.exactlyonce.primary.SynchronousCommit;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Claims, works and completes in one transaction of the application's own transaction manager, which writes a key's row once,
 * at its end: until then its advisory lock says that the key is held.
 *
 * <p>The row decides: a key that another claim has inserted or changed since it was read rolls the transaction back. Work that
 * commits or rolls back by itself is found out by the transaction's number, and what it has committed becomes a doubt, unless its
 * process dies before it ends.
 */
public final class PostgresClaimTransaction implements ClaimTransaction {

    private static final Logger log = LoggerFactory.getLogger(PostgresClaimTransaction.class);

    /** Class 08: the connection broke. */
    private static final String CONNECTION = "08";

    private static final String SERVER_SHUTS_DOWN = "57P";
    private static final String UNIQUE_VIOLATION = "23505";
    private static final String DIVISION_BY_ZERO = "22012";
    private static final String PRIMARY_KEY = "exactly_once_claim_pkey";

    /** PostgreSQL's names, the weakest first. */
    private static final List<String> DURABILITIES = List.of("off", "local", "remote_write", "on", "remote_apply");

    /**
     * Never waits. The clock is read after the lock was taken, or a transaction that rolled back meanwhile might have had a higher
     * fencing token. A replica numbers no transaction, and fails. The array comes from a subquery, so that the planner does not
     * count its entries: it would plan each run anew.
     */
    private static final String LOCK = """
            SELECT wanted.position, pg_try_advisory_xact_lock(wanted.number) AS taken,
                   pg_current_xact_id()::text AS transaction,
                   (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS token,
                   current_setting('synchronous_commit') AS durability,
                   current_setting('transaction_read_only') AS read_only
            FROM (%s) AS planning, unnest((SELECT ?::bigint[])) WITH ORDINALITY AS wanted (number, position);
            """;

    /**
     * For the statement after it: where the table was analyzed while it was nearly empty, the planner takes a scan of all of it
     * for the cheapest plan, and the driver's prepared statement keeps that. {@code WHERE} keeps what was set before.
     */
    private static final String ONLY_BY_INDEX = """
            SELECT set_config('enable_seqscan', 'off', true) AS setting
            WHERE set_config('exactly_once.enable_seqscan', current_setting('enable_seqscan'), true) IS NOT NULL""";

    /** Its plan is made before it runs and takes that setting back: the work's own statements are planned as ever. */
    private static final String ROWS = """
            SELECT wanted.position, met.*
            FROM (SELECT set_config('enable_seqscan', current_setting('exactly_once.enable_seqscan', true), true) AS setting)
                     AS planning,
                 unnest((SELECT ?::text[]), (SELECT ?::text[])) WITH ORDINALITY AS wanted (scope, key, position)
            CROSS JOIN LATERAL (
                SELECT
            """ + ClaimRow.COLUMNS + """
                FROM exactly_once_claim AS c WHERE c.scope = wanted.scope AND c.key = wanted.key OFFSET 0
            ) AS met
            """;

    /** The rows' snapshot is younger than the locks: it shows whatever their last holders have committed. */
    private static final String LOOK = LOCK.formatted(ONLY_BY_INDEX) + ROWS;

    private static final String LOCK_ALONE = LOCK.formatted("SELECT 1");
    private static final String ROWS_ALONE = ONLY_BY_INDEX + ";\n" + ROWS;

    /**
     * A transaction other than the one that has the locks divides by zero: the work has committed or rolled back by itself. A key
     * that another claim has inserted meanwhile violates the primary key. Either aborts, so that a {@code COMMIT} behind it is
     * not run.
     */
    private static final String INSERT = """
            INSERT INTO exactly_once_claim (claim_id, owner, attempt, fencing_token, ambiguous, fingerprint, expires_at,
                                            result, scope, key, status, lease_until, first_claimed_at, claimed_at, completed_at)
            VALUES (?, ?, ? / (pg_current_xact_id() = ?::xid8)::int, ?, ?, decode(?, 'hex'),
                    now() + ? * interval '1 microsecond', ?,
                    ?, ?, 'COMPLETED', now(), now(), now(), clock_timestamp())""";

    /** Of a row that was free when it was read: writes nothing if it is not as it was, or another transaction has it. */
    private static final String UPDATE = """
            UPDATE exactly_once_claim
            SET claim_id = ?, owner = ?, attempt = ? / (pg_current_xact_id() = ?::xid8)::int, fencing_token = ?,
                ambiguous = ?, fingerprint = decode(?, 'hex'), expires_at = now() + ? * interval '1 microsecond',
                result = ?, status = 'COMPLETED', cleared = false, lease_until = now(), claimed_at = now(),
                completed_at = clock_timestamp()
            WHERE scope = ? AND key = ? AND claim_id = (
                SELECT claim_id FROM exactly_once_claim
                WHERE scope = ? AND key = ? AND claim_id = ? AND status = ?
                  AND (status = 'RELEASED' OR lease_until <= clock_timestamp())
                FOR UPDATE SKIP LOCKED
            )""";

    /** What became of a transaction: committed with its completions, committed without them, or nothing that is known. */
    private static final String STATUS = """
            SELECT CASE WHEN pg_xact_status(?::xid8) = 'committed' THEN
                       CASE WHEN EXISTS (SELECT 1 FROM exactly_once_claim
                                         WHERE scope = ? AND key = ? AND claim_id = ? AND status = 'COMPLETED')
                            THEN 'completed' ELSE 'committed' END
                   END
            """;

    private final PlatformTransactionManager transactions;
    private final DataSource dataSource;
    private final JdbcTemplate jdbc;
    private final DataSource claims;
    private final ClaimStore store;
    private final Takeovers takeovers;
    private final boolean hasOneSnapshot;
    private final long retentionMicros;
    private final String durability;

    /** The numbers of the transactions in which work is being done. */
    private final Map<ClaimId, String> working = new ConcurrentHashMap<>();

    /**
     * @param transactions the application's
     * @param dataSource whose connections its transactions bind
     * @param claims reaches the same database, for what is no part of these transactions
     * @param hasOneSnapshot whether all statements of a transaction see what its first one saw: REPEATABLE READ or SERIALIZABLE
     * @param retention how long a key's row is kept
     * @param synchronousCommit what commits of claims wait for
     */
    public PostgresClaimTransaction(
            PlatformTransactionManager transactions,
            DataSource dataSource,
            DataSource claims,
            boolean hasOneSnapshot,
            Duration retention,
            SynchronousCommit synchronousCommit) {
        this.transactions = transactions;
        this.dataSource = dataSource;
        this.jdbc = new JdbcTemplate(dataSource);
        this.claims = claims;
        this.store = new PostgresClaimStore(claims, retention, synchronousCommit);
        this.takeovers = new Takeovers(Statements::within, retention);
        this.hasOneSnapshot = hasOneSnapshot;
        this.retentionMicros = TimeUnit.MICROSECONDS.convert(retention);
        this.durability = synchronousCommit.setting();
    }

    @Override
    public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
        Look look = new Look(requests);
        try {
            execute(look, work, begin(look));
        } catch (Exception failure) {
            if (look.free.isEmpty() || !isCompleted(look, failure)) {
                throw failure;
            }
        }
        return look.outcomes;
    }

    /** Does all but commit, and so meets whatever claims and completions meet. */
    @Override
    public void probe(ClaimRequest request) throws Exception {
        Look look = new Look(List.of(request));
        TransactionStatus status = begin(look);
        status.setRollbackOnly();
        execute(look, outcomes -> Map.of(), status);
    }

    @Override
    public boolean isWithin(ClaimId claim) {
        return Boolean.TRUE.equals(jdbc.queryForObject(
                "SELECT pg_current_xact_id_if_assigned() = ?::xid8", Boolean.class, working.get(claim)));
    }

    private TransactionStatus begin(Look look) {
        try {
            // A transaction that is open already would be committed after the message is acknowledged.
            return transactions.getTransaction(
                    new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
        } catch (CannotCreateTransactionException unanswered) {
            throw look.unanswered(unanswered);
        }
    }

    private void execute(Look look, BatchWork work, TransactionStatus status) throws Exception {
        boolean crashed = true;
        try {
            read(look);
            if (!look.free.isEmpty()) {
                complete(look, work(look, work), status);
            }
            crashed = false;
        } catch (Exception failure) {
            crashed = false;
            if (!isRolledBack(status, failure)) {
                throw look.lost(failure);
            }
            throw failure;
        } finally {
            // A crash keeps no connection from its pool.
            if (crashed && !status.isCompleted()) {
                transactions.rollback(status);
            }
        }
        end(look, status);
    }

    /** Without one, the locks would be released before the work begins. */
    private void requireTransaction() {
        if (!SameDatabase.dataSourcesOfTransaction().contains(dataSource)
                || !Boolean.FALSE.equals(jdbc.execute(Connection::getAutoCommit))) {
            throw new IllegalTransactionStateException(
                    "Transaction manager %s began no transaction on the DataSource that it used at start-up"
                            .formatted(transactions));
        }
    }

    /** Takes the locks and reads the rows, in one round trip; and decides. */
    private void read(Look look) {
        try {
            requireTransaction();
            if (hasOneSnapshot) {
                // Its snapshot may be older than the lock, and a row that it reads and misses conflicts with keys
                // beside it.
                jdbc.execute(LOCK_ALONE, (PreparedStatement statement) -> look.locked(statement));
                aside(ROWS_ALONE, statement -> look.met(statement, 1));
            } else {
                jdbc.execute(LOOK, (PreparedStatement statement) -> look.met(statement, 2));
            }
            for (ClaimRequest request : look.requests) {
                look.outcomes.add(decide(look, request));
            }
        } catch (DataAccessException failure) {
            throw Statements.isUnstorable(failure) ? Statements.unstorable(failure) : look.unanswered(failure);
        }
    }

    private ClaimOutcome decide(Look look, ClaimRequest request) {
        ClaimRow row = look.rows.get(request.key());
        if (row != null && !row.isFree()) {
            return row.refusal(request);
        }
        if (!look.locks.remove(request.key())) {
            // How long the holder will take is unknown: what a lease of our own would be is as good a guess as any.
            return new HeldElsewhere(request.lease());
        }
        if (row != null && row.mustBeParked(request)) {
            boolean parked = isParked(request, row);
            look.mustCommit |= parked;
            return parked ? new Parked() : new HeldElsewhere(Duration.ZERO);
        }
        Acquired claim = row == null ? new Acquired(1, look.token, false) : row.next();
        look.free.add(new Free(request, row, claim));
        return claim;
    }

    private boolean isParked(ClaimRequest request, ClaimRow row) {
        return Boolean.TRUE.equals(jdbc.execute((Connection connection) -> !takeovers
                .parkInDoubt(connection, List.of(new FreeKey(request, row)))
                .isEmpty()));
    }

    private Map<ClaimId, String> work(Look look, BatchWork work) throws Exception {
        look.free.forEach(free -> working.put(free.request.id(), look.transaction));
        try {
            return work.run(List.copyOf(look.outcomes));
        } finally {
            look.free.forEach(free -> working.remove(free.request.id()));
        }
    }

    /** Writes the rows, in key order, in one round trip; with the commit where that is all there is to commit. */
    private void complete(Look look, Map<ClaimId, String> results, TransactionStatus status) {
        String setting = DURABILITIES.indexOf(look.durability) < DURABILITIES.indexOf(durability)
                ? "SET LOCAL synchronous_commit = " + durability
                : "";
        try {
            Free only = look.free.get(0);
            if (look.free.size() == 1 && only.row == null && mayCommit(status)) {
                String insert = INSERT + ";\nCOMMIT";
                jdbc.execute(setting.isEmpty() ? insert : setting + ";\n" + insert, (PreparedStatement statement) -> {
                    bind(statement, only, look, results);
                    return statement.execute();
                });
                return;
            }
            if (!setting.isEmpty()) {
                jdbc.execute(setting, (PreparedStatement statement) -> statement.execute());
            }
            look.free.sort(Comparator.comparing(free -> free.request.key()));
            write(look, results, false);
            write(look, results, true);
        } catch (DataAccessException failure) {
            throw refused(look, failure);
        }
    }

    /** Writes rows that were there, or those that were not. */
    private void write(Look look, Map<ClaimId, String> results, boolean there) {
        List<Free> written =
                look.free.stream().filter(free -> (free.row != null) == there).toList();
        if (written.isEmpty()) {
            return;
        }
        int[] counts = jdbc.execute(there ? UPDATE : INSERT, (PreparedStatement statement) -> {
            for (Free free : written) {
                bind(statement, free, look, results);
                statement.addBatch();
            }
            try {
                return statement.executeBatch();
            } catch (BatchUpdateException failure) {
                // Which quotes the statement with its parameters, unlike what it stands for.
                throw failure.getNextException() == null ? failure : failure.getNextException();
            }
        });
        for (int count : counts) {
            if (count == 0) {
                throw look.forestalled();
            }
        }
    }

    private void bind(PreparedStatement statement, Free free, Look look, Map<ClaimId, String> results)
            throws SQLException {
        ClaimRequest request = free.request;
        statement.setObject(1, request.claimId());
        statement.setString(2, request.owner());
        statement.setInt(3, free.claim.attempt());
        statement.setString(4, look.transaction);
        statement.setLong(5, free.claim.fencingToken());
        statement.setBoolean(6, free.claim.ambiguous());
        statement.setString(7, request.fingerprint());
        statement.setLong(8, retentionMicros);
        statement.setString(9, storable(request.key(), results.get(request.id())));
        statement.setString(10, request.key().scope());
        statement.setString(11, request.key().key());
        if (free.row != null) {
            statement.setString(12, request.key().scope());
            statement.setString(13, request.key().key());
            statement.setObject(14, free.row.claimId());
            statement.setString(15, free.row.status().name());
        }
    }

    /**
     * The effect is worth more than its result. With NUL, a driver that sends values within the statement
     * ({@code preferQueryMode=simple}) breaks the protocol, and pools take the connection for broken.
     */
    private static @Nullable String storable(ClaimKey key, @Nullable String result) {
        if (result == null || result.indexOf('\0') < 0) {
            return result;
        }
        var unstorable = new IllegalArgumentException("It contains a NUL character, which PostgreSQL cannot store");
        log.warn("The result for {} cannot be stored; completing without it", key, unstorable);
        return null;
    }

    /** PostgreSQL's own words would quote the key. */
    private static RuntimeException refused(Look look, DataAccessException failure) {
        String state = Statements.sqlState(failure);
        if (state.equals(DIVISION_BY_ZERO)) {
            return look.ended();
        }
        if (!String.valueOf(failure.getMessage()).contains(PRIMARY_KEY)) {
            return failure;
        }
        if (state.equals(UNIQUE_VIOLATION)) {
            return look.forestalled();
        }
        return Statements.isUnstorable(failure) ? Statements.unstorable(failure) : failure;
    }

    /**
     * Returns whether the manager's commit would be its connection's and nothing else, so that it may go with the completion:
     * the manager then finds no transaction to commit any more. JPA writes what it has not written yet when it commits, and
     * so may a synchronization, a listener of the manager's, or a manager that the application has extended.
     */
    private boolean mayCommit(TransactionStatus status) {
        boolean isPlain = transactions.getClass() == JdbcTransactionManager.class
                || transactions.getClass() == DataSourceTransactionManager.class;
        return isPlain
                && ((DataSourceTransactionManager) transactions)
                        .getTransactionExecutionListeners()
                        .isEmpty()
                && !status.isRollbackOnly()
                && (!TransactionSynchronizationManager.isSynchronizationActive()
                        || TransactionSynchronizationManager.getSynchronizations()
                                .isEmpty());
    }

    /** What could not be rolled back counts as no answer: a message on its last receive waits for one. */
    private void end(Look look, TransactionStatus status) {
        boolean commits = look.mustCommit || !look.free.isEmpty();
        try {
            if (commits) {
                transactions.commit(status);
            } else {
                transactions.rollback(status);
            }
        } catch (RuntimeException failure) {
            String state = Statements.sqlState(failure);
            boolean isLost = !commits || state.startsWith(CONNECTION) || state.startsWith(SERVER_SHUTS_DOWN);
            throw isLost ? look.lost(failure) : failure;
        }
    }

    /** Returns whether there still was a connection for it: work that breaks it may throw anything. */
    private boolean isRolledBack(TransactionStatus status, Throwable failure) {
        try {
            transactions.rollback(status);
            return true;
        } catch (RuntimeException connectionLost) {
            failure.addSuppressed(connectionLost);
            return false;
        }
    }

    /**
     * Returns whether the completions are committed, although it looks like a failure: the commit's reply was lost, or something
     * failed after it. What the work has committed by itself is in doubt, also if it failed then.
     */
    private boolean isCompleted(Look look, Exception failure) {
        ClaimRequest first = look.free.get(0).request;
        try {
            String became = aside(STATUS, statement -> {
                statement.setString(1, look.transaction);
                statement.setString(2, first.key().scope());
                statement.setString(3, first.key().key());
                statement.setObject(4, first.claimId());
                ResultSet answer = statement.executeQuery();
                answer.next();
                return String.valueOf(answer.getString(1));
            });
            if ("completed".equals(became)) {
                log.warn("{} failed after its commit, so its effects and completions stay", look, failure);
                return true;
            }
            if ("committed".equals(became)) {
                leaveInDoubt(look);
            }
        } catch (RuntimeException unanswered) {
            failure.addSuppressed(unanswered);
        }
        return false;
    }

    private void leaveInDoubt(Look look) {
        log.error(
                "{} was committed by its handler, which failed then: what it had written stays, and is in doubt", look);
        List<ClaimRequest> requests = look.free.stream().map(Free::request).toList();
        List<ClaimOutcome> outcomes = store.claim(requests);
        List<ClaimEnd> doubts = new ArrayList<>();
        for (int index = 0; index < requests.size(); index++) {
            if (outcomes.get(index) instanceof Acquired) {
                doubts.add(new ClaimEnd.Released(requests.get(index).id(), "its handler committed by itself", true));
            }
        }
        if (!doubts.isEmpty()) {
            store.end(doubts);
        }
    }

    /** Not by Spring's utilities: within the application's transaction they would keep the connection to its end. */
    private <T> T aside(String sql, PreparedStatementCallback<T> action) {
        try (Connection connection = claims.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            return action.doInPreparedStatement(statement);
        } catch (SQLException failure) {
            throw new UncategorizedSQLException("Claims", sql, failure);
        }
    }

    /**
     * A key that is free, and that this transaction completes.
     *
     * @param row as it was read; {@code null} if there is none
     */
    private record Free(ClaimRequest request, @Nullable ClaimRow row, Acquired claim) {}

    /** One transaction's look at its keys. */
    private static final class Look {

        private final List<ClaimRequest> requests;
        private final List<ClaimOutcome> outcomes = new ArrayList<>();
        private final List<Free> free = new ArrayList<>();

        /** Of keys that are not decided yet: a second request for a key finds it held by the first one. */
        private final Set<ClaimKey> locks = new HashSet<>();

        private final Map<ClaimKey, ClaimRow> rows = new HashMap<>();
        private String transaction = "";
        private String durability = "";
        private long token;
        private boolean mustCommit;

        Look(List<ClaimRequest> requests) {
            this.requests = requests;
        }

        /** Reads who has the locks, which is the statement's first answer. */
        boolean locked(PreparedStatement statement) throws SQLException {
            Object[] numbers = requests.stream()
                    .map(request -> SameDatabase.number(request.key()))
                    .toArray();
            statement.setArray(1, statement.getConnection().createArrayOf("bigint", numbers));
            statement.execute();
            try (ResultSet row = statement.getResultSet()) {
                while (row.next()) {
                    if (row.getString("read_only").equals("on")) {
                        throw new TransientDataAccessResourceException("Claims need more than a read-only transaction");
                    }
                    transaction = row.getString("transaction");
                    durability = row.getString("durability");
                    token = Math.max(token, row.getLong("token"));
                    if (row.getBoolean("taken")) {
                        locks.add(requests.get(row.getInt("position") - 1).key());
                    }
                }
            }
            return true;
        }

        /**
         * Reads the rows, which are the statement's second answer.
         *
         * @param parameter the first of two
         */
        boolean met(PreparedStatement statement, int parameter) throws SQLException {
            Object[] scopes =
                    requests.stream().map(request -> request.key().scope()).toArray();
            Object[] keys =
                    requests.stream().map(request -> request.key().key()).toArray();
            statement.setArray(parameter, statement.getConnection().createArrayOf("text", scopes));
            statement.setArray(parameter + 1, statement.getConnection().createArrayOf("text", keys));
            if (parameter == 1) {
                statement.execute();
            } else {
                locked(statement);
            }
            statement.getMoreResults();
            try (ResultSet row = statement.getResultSet()) {
                while (row.next()) {
                    ClaimKey key = requests.get(row.getInt("position") - 1).key();
                    rows.put(key, ClaimRow.read(row, key));
                }
            }
            return true;
        }

        ClaimStoreUnavailableException unanswered(RuntimeException failure) {
            return new ClaimStoreUnavailableException(
                    "The claim of %s got no answer"
                            .formatted(requests.stream().map(ClaimRequest::key).toList()),
                    failure);
        }

        ClaimStoreUnavailableException lost(Exception failure) {
            return new ClaimStoreUnavailableException(this + " lost its connection", failure);
        }

        IllegalStateException ended() {
            return new IllegalStateException(this
                    + " ended before its handler did, so the handler's writes are not one with the claim: a handler with"
                    + " effects = DATABASE must neither commit nor roll back by itself");
        }

        ConcurrencyFailureException forestalled() {
            return new ConcurrencyFailureException(this
                    + " is rolled back, since another claim of a key was written meanwhile: listeners of one scope should"
                    + " have the same effects");
        }

        @Override
        public String toString() {
            String others = requests.size() == 1 ? "" : " and %d more".formatted(requests.size() - 1);
            return "The transaction of " + requests.get(0).key() + others;
        }
    }
}
