package io.exactlyonce.primary;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import io.exactlyonce.boundary.Causes;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.DataSourceUnwrapper;

/**
 * A small connection pool for claims alone. Slow handlers cannot exhaust it, so leases are renewed in time.
 *
 * <p>Guaranteed: the driver checks that the server of each new connection accepts writes, even if the URL has one host.
 * After a connection broke or met a read-only server, all open connections are discarded. An application's pool has
 * neither guarantee, and each statement of claims fails on a replica.
 *
 * <p>Not guaranteed: that the primary has all commits of an earlier primary, after a failover to an asynchronous
 * replica. Also not guaranteed: what commits wait for, because the application's pool or a pooler may share sessions
 * with the application. Statements that depend on a setting therefore set it in their transaction.
 *
 * <p>The pool opens its first connection at its first use, and keeps one idle connection, so that many idle instances
 * do not exhaust the server. The pool starts even if the database is down; {@link PrimaryCheck} then reports the cause.
 */
public final class ClaimPool implements AutoCloseable {

    /** The property that limits the wait for a connection of the library's own pool. */
    public static final String TIMEOUT_PROPERTY = "exactly-once.datasource.connection-timeout";

    static final String NAME = "exactly-once-claims";

    /** The most connections that operators use: one for a lookup, and one for a decision. */
    public static final int FOR_OPERATORS = 2;

    /**
     * The time after its last use for which an operator's connection stays open: the shortest that HikariCP accepts.
     */
    private static final Duration OPERATORS_IDLE = Duration.ofSeconds(10);

    /**
     * The default limit of the wait for a connection. A renewal has half of its lease for this wait and its retries;
     * SQS's default makes a lease of 30 s.
     */
    static final Duration TIMEOUT = Duration.ofSeconds(3);

    private static final String MARKED = "the DataSource marked @ExactlyOnceDataSource";

    /** SQLSTATEs if the server ends the session (57P01 to 57P03), or no longer accepts writes. */
    private static final Set<String> SERVER_GONE = Set.of("57P01", "57P02", "57P03", "25006");

    private final @Nullable Supplier<Target> targets;
    private final DataSource dataSource;
    private final @Nullable HikariDataSource hikari;
    private final @Nullable DataSource driver;
    private final @Nullable HikariDataSource operators;
    private final int maximumPoolSize;

    /**
     * The first target. Log lines use it, because a pool's address never changes, and reading another target may
     * request a token.
     */
    private volatile @Nullable Target known;

    /**
     * The claim database and its credentials.
     *
     * @param setting the setting of the URL, for remedies
     * @param url the JDBC URL; a {@code targetServerType} in it is overruled
     * @param username the user, or {@code null} if the URL or the driver has it
     * @param password the password, or {@code null} if there is none
     * @param credentials a clause for failures: where user and password come from, and how a rotation takes effect
     * @param driver the driver's class, or {@code null} if the URL alone finds the driver
     * @param settings settings for the driver, unless the URL has them
     * @param schema the tables' schema, or {@code null} if the URL or the server sets it
     * @param initSql the first statement of each new connection, or {@code null}
     */
    public record Target(
            String setting,
            String url,
            @Nullable String username,
            @Nullable String password,
            String credentials,
            @Nullable String driver,
            Map<String, String> settings,
            @Nullable String schema,
            @Nullable String initSql) {

        private static final Pattern POSTGRESQL = Pattern.compile("(?s)jdbc[\\w-]*:([\\w-]+:)*postgresql:.*");

        private static final String PLACES =
                "(//([\\w.%-]*|\\[[\\w.:%]+])(:\\d*)?(,([\\w.%-]*|\\[[\\w.:%]+])(:\\d*)?)*)?/?[^?&=;@/\\s]*";

        private static final String PARAMETER = "[\\w.-]+(=[^&\\s]*)?";

        /** The form of a URL that PostgreSQL's driver can read, with or without the prefix of a driver around it. */
        private static final Pattern CLEAR =
                Pattern.compile("jdbc[\\w-]*:([\\w-]+:)*postgresql:([\\w.-]+:)?%s(\\?(%s)?(&(%s)?)*)?"
                        .formatted(PLACES, PARAMETER, PARAMETER));

        /** The form that {@link #isClear} requires, for messages. */
        public static final String FORM =
                "jdbc:postgresql://host:port/database?name=value&name=value, without user and password, and with other"
                        + " characters of the database's name as %xx";

        private static final String STATIC = "user and password are read at startup";

        /** Makes a target without driver settings, whose user and password never change. */
        public Target(String setting, String url, @Nullable String username, @Nullable String password) {
            this(setting, url, username, password, STATIC, null, Map.of(), null, null);
        }

        /**
         * Returns whether a URL connects to PostgreSQL, by PostgreSQL's own driver or by a driver around it, such as
         * {@code jdbc:aws-wrapper:postgresql:}.
         */
        public static boolean isPostgresql(String url) {
            return POSTGRESQL.matcher(url).matches();
        }

        /**
         * Returns whether each part of a PostgreSQL URL can be recognized. Otherwise any part may be a secret, for
         * example a password before a host, and the driver's messages would quote it.
         */
        public static boolean isClear(String url) {
            return CLEAR.matcher(url).matches();
        }

        /** Returns this target with another user and password. */
        public Target as(@Nullable String user, @Nullable String secret, String origin) {
            return new Target(setting, url, user, secret, origin, driver, settings, schema, initSql);
        }

        /** Returns hosts, ports and database, without credentials and parameters. */
        String address() {
            return withoutSecrets(url);
        }

        /** Leaves secrets out. */
        @Override
        public String toString() {
            return "%s of %s".formatted(address(), setting);
        }
    }

    /**
     * Makes a pool.
     *
     * @param targets returns the target of each new connection, or throws a {@link ClaimDatabaseException}
     * @param maximumPoolSize the most connections at any time
     * @param timeout the longest wait for a connection, and for the driver to open one; at least a second
     */
    public ClaimPool(Supplier<Target> targets, int maximumPoolSize, Duration timeout) {
        this(targets, new PrimaryDriver(targets, timeout), maximumPoolSize, timeout);
    }

    /** Makes a pool for a target that never changes. */
    public ClaimPool(Target target, int maximumPoolSize, Duration timeout) {
        this(() -> target, maximumPoolSize, timeout);
    }

    ClaimPool(Target target, DataSource driver, int size, Duration timeout) {
        this(() -> target, driver, size, timeout);
    }

    private ClaimPool(Supplier<Target> targets, DataSource driver, int size, Duration timeout) {
        this(targets, pool(driver, size, timeout), driver, size, forOperators(driver, timeout));
    }

    private ClaimPool(
            @Nullable Supplier<Target> targets,
            DataSource dataSource,
            @Nullable DataSource driver,
            int size,
            @Nullable HikariDataSource operators) {
        this.operators = operators;
        this.targets = targets;
        this.dataSource = dataSource;
        this.hikari = hikari(dataSource);
        this.driver = driver;
        this.maximumPoolSize = hikari == null ? size : hikari.getMaximumPoolSize();
    }

    /**
     * Uses an application pool. The application configures and closes that pool.
     *
     * @param marked the pool's DataSource, marked with {@link io.exactlyonce.ExactlyOnceDataSource}
     * @param maximumPoolSize the most connections that the pool gives at any time; ignored for a HikariCP pool, which
     *     has its own value
     */
    public static ClaimPool around(DataSource marked, int maximumPoolSize) {
        return new ClaimPool(null, marked, null, maximumPoolSize, null);
    }

    /** Makes the pool without a configuration object, so that the pool starts with its first connection. */
    private static HikariDataSource pool(DataSource driver, int maximumPoolSize, Duration timeout) {
        var pool = new HikariDataSource();
        pool.setPoolName(NAME);
        pool.setDataSource(driver);
        pool.setMaximumPoolSize(maximumPoolSize);
        pool.setMinimumIdle(1);
        pool.setIdleTimeout(Duration.ofMinutes(1).toMillis());
        pool.setConnectionTimeout(timeout.toMillis());
        pool.setInitializationFailTimeout(-1);
        // The pool sets the isolation level once per connection, because each transaction would need a round trip to
        // set it.
        pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        pool.setExceptionOverride(new SQLExceptionOverride() {
            /**
             * Evicts more connections than the one that failed. After a failover, connections to the demoted primary
             * stay open and look healthy. The pool also hands out recently used connections without validation. Each of
             * these connections would fail a claim.
             */
            @java.lang.Override
            public SQLExceptionOverride.Override adjudicate(SQLException failure) {
                if (!isStale(failure)) {
                    return SQLExceptionOverride.Override.CONTINUE_EVICT;
                }
                pool.getHikariPoolMXBean().softEvictConnections();
                return SQLExceptionOverride.Override.MUST_EVICT;
            }
        });
        return pool;
    }

    /** Makes a pool that keeps no idle connection, because operators rarely need one. */
    private static HikariDataSource forOperators(DataSource driver, Duration timeout) {
        HikariDataSource pool = pool(driver, FOR_OPERATORS, timeout);
        pool.setPoolName("exactly-once-operators");
        pool.setMinimumIdle(0);
        pool.setIdleTimeout(OPERATORS_IDLE.toMillis());
        return pool;
    }

    /**
     * Returns the DataSource for operators' lookups and decisions. Operators do not take connections from claims. A
     * marked DataSource gives operators at most {@link #lentToOperators} of its own connections.
     */
    public DataSource operators() {
        return operators == null ? dataSource : operators;
    }

    /** Returns the most connections of this pool that operators may take at a time. */
    public int lentToOperators() {
        return operators == null ? FOR_OPERATORS : 0;
    }

    /** Returns the DataSource of claims. */
    public DataSource dataSource() {
        return dataSource;
    }

    /** Returns the pool if this library made it. */
    public Optional<HikariDataSource> own() {
        return isMarked() ? Optional.empty() : Optional.of((HikariDataSource) dataSource);
    }

    boolean isMarked() {
        return driver == null;
    }

    /** Returns the most connections that the pool gives at a time. */
    public int maximumPoolSize() {
        return maximumPoolSize;
    }

    /**
     * Returns the limit of the wait for a connection if the application chose it, by a property or in its own pool.
     * Empty otherwise, or if the application's pool does not report the limit.
     */
    public Optional<Duration> chosenTimeout() {
        return Optional.ofNullable(hikari)
                .map(pool -> Duration.ofMillis(pool.getConnectionTimeout()))
                .filter(timeout -> isMarked() || !timeout.equals(TIMEOUT));
    }

    /** Returns the setting that limits the wait for a connection. */
    public String timeoutSetting() {
        return isMarked() ? "the connectionTimeout of " + MARKED : TIMEOUT_PROPERTY;
    }

    /**
     * Returns the shortest time in which a connection was opened. Empty before the first connection, and for a marked
     * pool.
     */
    public Optional<Duration> shortestConnectTime() {
        return driver instanceof PrimaryDriver ours ? ours.shortestConnectTime() : Optional.empty();
    }

    /** Returns the setting that names the database. */
    public String setting() {
        return targets == null ? MARKED : known(targets).setting();
    }

    /** Returns the settings on which a connection depends. */
    String demands() {
        if (isMarked()) {
            return "the settings of %s are right".formatted(MARKED);
        }
        String url = setting();
        long seconds = chosenTimeout().orElse(TIMEOUT).toSeconds();
        return "%s are right; of one that is far away, that a connection opens within %s (%ds)"
                .formatted(
                        url.endsWith(".url") ? url + ", .username and .password" : url + ", its user and its password",
                        TIMEOUT_PROPERTY,
                        seconds);
    }

    /**
     * Returns the known hosts, ports and database, without credentials and parameters.
     *
     * @throws ClaimDatabaseException if claims cannot connect with the application's details
     */
    public String target() {
        return targets == null ? MARKED : known(targets).address();
    }

    private Target known(Supplier<Target> targets) {
        Target first = known;
        if (first == null) {
            first = targets.get();
            known = first.as(null, null, "");
        }
        return first;
    }

    @Override
    public void close() {
        if (operators != null) {
            operators.close();
        }
        own().ifPresent(HikariDataSource::close);
    }

    /**
     * Returns whether a connection failed in a way that older connections probably fail too, and a new connection
     * probably works. A timeout is not such a failure: the server may only be slow, and a retry would take as long.
     *
     * @param failure the driver's exception, or an exception with it as a cause; the outermost SQLSTATE decides
     */
    public static boolean isStale(Throwable failure) {
        String state = sqlState(failure);
        return (state.startsWith("08") || SERVER_GONE.contains(state))
                && !(Causes.root(failure) instanceof SocketTimeoutException);
    }

    /** Returns the outermost SQLSTATE among a failure and its causes; empty if there is none. */
    public static String sqlState(Throwable failure) {
        return Causes.of(failure)
                .map(cause -> cause instanceof SQLException sql ? sql.getSQLState() : null)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("");
    }

    /**
     * Evicts a stale connection from an application pool. If that pool is HikariCP, evicts all open connections. The
     * library's own pool does this by itself.
     *
     * @param connection the failed connection, not yet returned
     */
    public static void discard(DataSource pool, Connection connection, SQLException failure) {
        if (!isStale(failure)) {
            return;
        }
        try {
            HikariDataSource hikari = hikari(pool);
            connection.abort(Runnable::run);
            if (hikari != null && hikari.getExceptionOverride() == null) {
                hikari.getHikariPoolMXBean().softEvictConnections();
            }
        } catch (SQLException gone) {
            failure.addSuppressed(gone);
        }
    }

    private static @Nullable HikariDataSource hikari(DataSource pool) {
        return DataSourceUnwrapper.unwrap(pool, HikariConfigMXBean.class, HikariDataSource.class);
    }

    static String withoutSecrets(String url) {
        return !Target.isPostgresql(url) || Target.isClear(url) ? place(url) : "a URL that is not shown";
    }

    private static String place(String url) {
        return url.replaceFirst("(?s)[?;].*", "").replaceFirst("^.*@|^jdbc[\\w-]*:([\\w:-]*//|\\w+:)", "");
    }
}
