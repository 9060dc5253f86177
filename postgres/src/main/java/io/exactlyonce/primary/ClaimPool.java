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
 * A small connection pool for claims only. Slow handlers cannot use up its connections, so leases are renewed in time.
 *
 * <p>Guaranteed if the library made the pool:
 * <ul>
 * <li>Each new connection goes to a server that accepts writes, even if the URL has only one host.
 * <li>If a connection breaks, or its server no longer accepts writes, all open connections are discarded.
 * </ul>
 *
 * <p>A pool of the application guarantees neither. But each statement of claims fails on a replica.
 *
 * <p>Not guaranteed:
 * <ul>
 * <li>All commits after a failover. If replication is asynchronous, the new primary may lack some of them.
 * <li>Default settings of a session. A pooler or the application's pool may use the session for the application, too.
 * So each transaction of claims sets what it needs.
 * </ul>
 *
 * <p>The pool opens its first connection when it is first used, so it can be made while the database is down. {@link
 * PrimaryCheck} then reports the cause. The pool keeps only one idle connection, so that many idle applications do not
 * use up the server's connections.
 */
public final class ClaimPool implements AutoCloseable {

    /** The property for how long claims wait for a connection of the library's own pool. */
    public static final String TIMEOUT_PROPERTY = "exactly-once.datasource.connection-timeout";

    static final String NAME = "exactly-once-claims";

    /** Operators use at most this many connections at a time: one for a lookup, and one for a decision. */
    public static final int FOR_OPERATORS = 2;

    /** An unused connection for operators is closed after this time. HikariCP accepts no shorter time. */
    private static final Duration OPERATORS_IDLE = Duration.ofSeconds(10);

    /**
     * The default of how long a call waits for a connection. A renewal must get a connection, and be repeated if it
     * fails, within half of the lease. By default a lease is as long as the visibility timeout, of which SQS's default
     * is 30 s.
     */
    static final Duration TIMEOUT = Duration.ofSeconds(3);

    private static final String MARKED = "the DataSource marked @ExactlyOnceDataSource";

    /** SQLSTATEs of a server that ends the session (57P01 to 57P03), or no longer accepts writes (25006). */
    private static final Set<String> SERVER_GONE = Set.of("57P01", "57P02", "57P03", "25006");

    private final @Nullable Supplier<Target> targets;
    private final DataSource dataSource;
    private final @Nullable HikariDataSource hikari;
    private final @Nullable DataSource driver;
    private final @Nullable HikariDataSource operators;
    private final int maximumPoolSize;

    /**
     * The address of the first connection, for messages. It stays valid, because a pool's address never changes.
     * Calling {@code targets} again could request a token from a service.
     */
    private volatile @Nullable Target known;

    /**
     * The address of the claim database, its credentials, and the driver's settings.
     *
     * @param setting name of the setting that contains the URL, for messages
     * @param url a {@code targetServerType} in the URL is ignored
     * @param username {@code null} if the URL or the driver has the user
     * @param password {@code null} if there is none
     * @param credentials text for messages: where user and password come from, and when they are read
     * @param driver the driver's class; {@code null} if the URL is enough to find the driver
     * @param settings settings for the driver; the URL overrides them
     * @param schema the schema of the tables; {@code null} if the URL or the server sets the schema
     * @param initSql the first statement of each new connection; {@code null} if there is none
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

        /**
         * Matches URLs that PostgreSQL's driver can read. A URL may also name a driver that wraps it (for example
         * {@code jdbc:aws-wrapper:postgresql:}).
         */
        private static final Pattern CLEAR =
                Pattern.compile("jdbc[\\w-]*:([\\w-]+:)*postgresql:([\\w.-]+:)?%s(\\?(%s)?(&(%s)?)*)?"
                        .formatted(PLACES, PARAMETER, PARAMETER));

        /** The form that {@link #isClear} requires, in words. */
        public static final String FORM =
                "jdbc:postgresql://host:port/database?name=value&name=value, without user and password, and with other"
                        + " characters of the database's name as %xx";

        private static final String STATIC = "user and password are read at startup";

        /** Makes a target with fixed credentials and without driver settings. */
        public Target(String setting, String url, @Nullable String username, @Nullable String password) {
            this(setting, url, username, password, STATIC, null, Map.of(), null, null);
        }

        /**
         * Returns whether a URL connects to PostgreSQL. The driver may be PostgreSQL's own, or one that wraps it (for
         * example {@code jdbc:aws-wrapper:postgresql:}).
         */
        public static boolean isPostgresql(String url) {
            return POSTGRESQL.matcher(url).matches();
        }

        /**
         * Returns whether a PostgreSQL URL can be shown in messages. An unknown part of a URL may be a secret, for
         * example a password in front of the host.
         */
        public static boolean isClear(String url) {
            return CLEAR.matcher(url).matches();
        }

        /** Returns this target with another user and password. */
        public Target as(@Nullable String user, @Nullable String secret, String origin) {
            return new Target(setting, url, user, secret, origin, driver, settings, schema, initSql);
        }

        /** Returns the hosts, ports and database of the URL, without credentials and parameters. */
        String address() {
            return withoutSecrets(url);
        }

        /** Returns a text without secrets. */
        @Override
        public String toString() {
            return "%s of %s".formatted(address(), setting);
        }
    }

    /**
     * Makes a pool.
     *
     * @param targets called for each new connection; may throw a {@link ClaimDatabaseException}
     * @param maximumPoolSize limit of open connections
     * @param timeout limit of the wait for a connection, and of opening one; at least a second
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
     * Lets claims use a pool of the application, which the application configures and closes.
     *
     * @param marked the pool's DataSource, marked with {@link io.exactlyonce.ExactlyOnceDataSource}
     * @param maximumPoolSize the pool's maximum size; ignored for a HikariCP pool, which reports its own
     */
    public static ClaimPool around(DataSource marked, int maximumPoolSize) {
        return new ClaimPool(null, marked, null, maximumPoolSize, null);
    }

    /**
     * Makes a pool without a {@code HikariConfig}, so that the pool starts only when its first connection is requested.
     */
    private static HikariDataSource pool(DataSource driver, int maximumPoolSize, Duration timeout) {
        var pool = new HikariDataSource();
        pool.setPoolName(NAME);
        pool.setDataSource(driver);
        pool.setMaximumPoolSize(maximumPoolSize);
        pool.setMinimumIdle(1);
        pool.setIdleTimeout(Duration.ofMinutes(1).toMillis());
        pool.setConnectionTimeout(timeout.toMillis());
        pool.setInitializationFailTimeout(-1);
        // The isolation level is set when a connection opens. Setting it in each transaction would cost a round trip.
        pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        pool.setExceptionOverride(new SQLExceptionOverride() {
            /**
             * Discards all connections if one of them is stale. After a failover, the other connections to the old
             * primary still look healthy. HikariCP does not test connections that were used recently, so each of these
             * would fail a claim.
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
     * Returns the DataSource for lookups and decisions of operators. If the library made the pool, this is a separate
     * pool. Otherwise it is the application's pool, where operators use at most {@link #lentToOperators} connections.
     */
    public DataSource operators() {
        return operators == null ? dataSource : operators;
    }

    /**
     * Returns how many connections of {@link #dataSource} operators may use at a time; 0 if they have a pool of their
     * own.
     */
    public int lentToOperators() {
        return operators == null ? FOR_OPERATORS : 0;
    }

    /** Returns the DataSource of claims. */
    public DataSource dataSource() {
        return dataSource;
    }

    /** Returns the pool if this library made it. Empty for a marked DataSource. */
    public Optional<HikariDataSource> own() {
        return isMarked() ? Optional.empty() : Optional.of((HikariDataSource) dataSource);
    }

    boolean isMarked() {
        return driver == null;
    }

    public int maximumPoolSize() {
        return maximumPoolSize;
    }

    /**
     * Returns how long claims wait for a connection, if the application has configured this time. Empty for the
     * library's default, and if the application's pool does not report its time.
     */
    public Optional<Duration> chosenTimeout() {
        return Optional.ofNullable(hikari)
                .map(pool -> Duration.ofMillis(pool.getConnectionTimeout()))
                .filter(timeout -> isMarked() || !timeout.equals(TIMEOUT));
    }

    /** Returns the name of the setting for how long claims wait for a connection. */
    public String timeoutSetting() {
        return isMarked() ? "the connectionTimeout of " + MARKED : TIMEOUT_PROPERTY;
    }

    /**
     * Returns the shortest time that it has taken to open a connection. Empty before the first connection, and for a
     * marked DataSource.
     */
    public Optional<Duration> shortestConnectTime() {
        return driver instanceof PrimaryDriver ours ? ours.shortestConnectTime() : Optional.empty();
    }

    /** Returns the name of the setting that chooses the database. Error texts contain this name. */
    public String setting() {
        return targets == null ? MARKED : known(targets).setting();
    }

    /** Returns a clause for a message: what to check if no connection can be opened. */
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
     * Returns hosts, ports and name of the database, without credentials and parameters. They are not known for a
     * DataSource with {@code @ExactlyOnceDataSource}, so its result is a fixed text.
     *
     * @throws ClaimDatabaseException if the application's details cannot be used for a connection
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
     * Returns whether a failure shows that the pool's open connections are stale: they would probably fail, too, but a
     * new connection would work. A timeout does not show this, because the server may only be slow.
     *
     * @param failure its SQLSTATE decides; if it has none, the SQLSTATE of its nearest cause
     */
    public static boolean isStale(Throwable failure) {
        String state = sqlState(failure);
        return (state.startsWith("08") || SERVER_GONE.contains(state))
                && !(Causes.root(failure) instanceof SocketTimeoutException);
    }

    /** Returns the outermost SQLSTATE among an exception and its causes; empty if there is none. */
    public static String sqlState(Throwable failure) {
        return Causes.of(failure)
                .map(cause -> cause instanceof SQLException sql ? sql.getSQLState() : null)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("");
    }

    /**
     * Discards a connection of an application pool if the failure shows that the connection is stale. If that pool is
     * HikariCP, discards all of its open connections. The library's own pool needs no call of this method.
     *
     * @param connection the failed connection, which is not yet returned to the pool
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
