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
 * A small connection pool that only claims use. Slow handlers cannot use up its connections, so leases are renewed in
 * time.
 *
 * <p>Guaranteed for the library's own pool:
 * <ul>
 *   <li>The driver checks that the server of each new connection accepts writes, even if the URL has one host.
 *   <li>After a connection broke, or met a read-only server, all open connections are discarded.
 * </ul>
 *
 * <p>An application's pool guarantees neither, but each statement of claims fails on a replica.
 *
 * <p>Not guaranteed: after a failover to an asynchronous replica, that the new primary has all commits of the old one.
 * Also not guaranteed: what commits wait for by default, because the application's pool, or a pooler, may share
 * sessions with the application. Statements that depend on a setting therefore set it in their transaction.
 *
 * <p>The pool opens its first connection at its first use. The pool keeps only one idle connection, so that many idle
 * instances do not use up the server's connections. The pool starts even if the database is down. {@link PrimaryCheck}
 * then reports the cause.
 */
public final class ClaimPool implements AutoCloseable {

    /** The property that limits how long the library's own pool waits for a connection. */
    public static final String TIMEOUT_PROPERTY = "exactly-once.datasource.connection-timeout";

    static final String NAME = "exactly-once-claims";

    /** The most connections that operators use at a time: one for a lookup, and one for a decision. */
    public static final int FOR_OPERATORS = 2;

    /** How long an unused connection for operators stays open: the shortest time that HikariCP accepts. */
    private static final Duration OPERATORS_IDLE = Duration.ofSeconds(10);

    /**
     * The default limit of the wait for a connection. A renewal can use half of its lease for this wait and for
     * retries. With SQS's default visibility timeout, a lease has 30 s.
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
     * The first target, without its credentials. Messages use it, because a pool's address never changes, and because
     * reading another target may request a token from a service.
     */
    private volatile @Nullable Target known;

    /**
     * The address of the claim database, its credentials, and the driver's settings.
     *
     * @param setting the setting of the URL, for fixes in messages
     * @param url the JDBC URL; a {@code targetServerType} in the URL is ignored
     * @param username the user; {@code null} if the URL or the driver has the user
     * @param password the password; {@code null} if there is none
     * @param credentials a clause for messages that says where user and password come from, and how a rotation
     *     takes effect
     * @param driver the driver's class; {@code null} if the driver is found by the URL alone
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

        /** The form of a URL that PostgreSQL's driver can read. The prefix of a driver that wraps it is permitted. */
        private static final Pattern CLEAR =
                Pattern.compile("jdbc[\\w-]*:([\\w-]+:)*postgresql:([\\w.-]+:)?%s(\\?(%s)?(&(%s)?)*)?"
                        .formatted(PLACES, PARAMETER, PARAMETER));

        /** The form that {@link #isClear} requires, as a text for messages. */
        public static final String FORM =
                "jdbc:postgresql://host:port/database?name=value&name=value, without user and password, and with other"
                        + " characters of the database's name as %xx";

        private static final String STATIC = "user and password are read at startup";

        /** Makes a target without driver settings, whose user and password never change. */
        public Target(String setting, String url, @Nullable String username, @Nullable String password) {
            this(setting, url, username, password, STATIC, null, Map.of(), null, null);
        }

        /**
         * Returns whether a URL connects to PostgreSQL, by PostgreSQL's own driver or by a driver that wraps it, such
         * as {@code jdbc:aws-wrapper:postgresql:}.
         */
        public static boolean isPostgresql(String url) {
            return POSTGRESQL.matcher(url).matches();
        }

        /**
         * Returns whether each part of a PostgreSQL URL can be recognized. If not, any part may be a secret that the
         * driver's messages would quote, for example a password in front of a host.
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
     * @param targets returns the target of each new connection, or throws a {@link ClaimDatabaseException}
     * @param maximumPoolSize the most connections at any time
     * @param timeout the longest time to wait for a connection, and for the driver to open one; at least a second
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
     * Uses an application pool, which the application configures and closes.
     *
     * @param marked the pool's DataSource, marked with {@link io.exactlyonce.ExactlyOnceDataSource}
     * @param maximumPoolSize the most connections that the pool has at any time; ignored for a HikariCP pool, which
     *     reports its own maximum
     */
    public static ClaimPool around(DataSource marked, int maximumPoolSize) {
        return new ClaimPool(null, marked, null, maximumPoolSize, null);
    }

    /** Makes a pool without a {@code HikariConfig}. Such a pool starts when its first connection is requested. */
    private static HikariDataSource pool(DataSource driver, int maximumPoolSize, Duration timeout) {
        var pool = new HikariDataSource();
        pool.setPoolName(NAME);
        pool.setDataSource(driver);
        pool.setMaximumPoolSize(maximumPoolSize);
        pool.setMinimumIdle(1);
        pool.setIdleTimeout(Duration.ofMinutes(1).toMillis());
        pool.setConnectionTimeout(timeout.toMillis());
        pool.setInitializationFailTimeout(-1);
        // The isolation level is set once per connection, because setting it in each transaction would cost a round
        // trip.
        pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        pool.setExceptionOverride(new SQLExceptionOverride() {
            /**
             * Evicts all connections if one is stale. After a failover, connections to the old primary stay open and
             * appear healthy, and the pool gives out recently used connections without validation. Each of those
             * connections would fail a claim.
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
     * Returns the DataSource for the lookups and decisions of operators. The library's own pool has separate
     * connections for operators. A marked DataSource lends them at most {@link #lentToOperators} of its connections.
     */
    public DataSource operators() {
        return operators == null ? dataSource : operators;
    }

    /** Returns the most connections of {@link #dataSource} that operators use at a time. */
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

    /** Returns the most connections that the pool has at a time. */
    public int maximumPoolSize() {
        return maximumPoolSize;
    }

    /**
     * Returns the limit of the wait for a connection, if the application chose the limit by a property or in its own
     * pool. Empty if the limit is the default, or if the application's pool does not report a limit.
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
     * Returns the shortest time that opening a connection took. Empty before the first connection, and for a marked
     * DataSource.
     */
    public Optional<Duration> shortestConnectTime() {
        return driver instanceof PrimaryDriver ours ? ours.shortestConnectTime() : Optional.empty();
    }

    /** Returns the setting that chooses the database, for messages. */
    public String setting() {
        return targets == null ? MARKED : known(targets).setting();
    }

    /** Returns a clause for messages that lists the settings on which a connection depends. */
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
     * Returns the hosts, ports and database of the first target, without credentials and parameters. Returns a fixed
     * text for a marked DataSource.
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
     * Returns whether a failure suggests that older connections fail too, and that a new connection works. A timeout
     * suggests neither, because the server may only be slow, and a retry would take as long.
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
     * Discards a connection of an application pool if its failure shows that the connection is stale. If that pool is
     * HikariCP, discards all of its open connections. The library's own pool discards its stale connections by itself.
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
