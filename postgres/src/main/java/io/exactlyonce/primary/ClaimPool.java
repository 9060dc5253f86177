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
 * <p>Guaranteed: the driver checks that each new connection's server accepts writes, even if the URL has one host;
 * after a connection broke or met a read-only server, all connections that were open then are discarded. A pool of the
 * application has neither guarantee: there, each statement of claims fails on a replica.
 *
 * <p>Not guaranteed: that the primary has all commits of an earlier primary, after a failover to an asynchronous
 * replica; or what commits wait for. Sessions may be shared with the application, by its pool or by a pooler, so
 * statements that depend on a setting set it in their transaction.
 *
 * <p>It opens no connection until it is first used, and keeps one idle connection, so that many idle instances do not
 * exhaust the server. It also starts while the database is down: {@link PrimaryCheck} reports that, with the cause.
 */
public final class ClaimPool implements AutoCloseable {

    /** The property that limits the wait for a connection of the library's own pool. */
    public static final String TIMEOUT_PROPERTY = "exactly-once.datasource.connection-timeout";

    static final String NAME = "exactly-once-claims";

    /** The most connections that operators use: one for a look-up, and one for a decision. */
    public static final int FOR_OPERATORS = 2;

    /** An operator's connection is closed this long after its last use: the shortest time that HikariCP accepts. */
    private static final Duration OPERATORS_IDLE = Duration.ofSeconds(10);

    /** A renewal that waits for a connection has half of its lease, which is 30 s by SQS's default, for that and its retries. */
    static final Duration TIMEOUT = Duration.ofSeconds(3);

    private static final String MARKED = "the DataSource marked @ExactlyOnceDataSource";

    /** The server ends the session (57P01 to 57P03), or no longer accepts writes. */
    private static final Set<String> SERVER_GONE = Set.of("57P01", "57P02", "57P03", "25006");

    private final @Nullable Supplier<Target> targets;
    private final DataSource dataSource;
    private final @Nullable HikariDataSource hikari;
    private final @Nullable DataSource driver;
    private final @Nullable HikariDataSource operators;
    private final int maximumPoolSize;

    /** The first target. Log lines use it, because the address of a pool never changes, and a new target may cost a token. */
    private volatile @Nullable Target known;

    /**
     * The claim database, and its credentials.
     *
     * @param setting names the URL, for remedies
     * @param url its JDBC URL; a {@code targetServerType} in it is overruled
     * @param username user, or {@code null} if the URL or the driver has it
     * @param password password, or {@code null} if there is none
     * @param credentials where user and password come from, and what a rotation needs: a clause for failures
     * @param driver class of the driver, or {@code null} if the URL alone finds it
     * @param settings for the driver, unless the URL has them
     * @param schema the tables' schema, or {@code null} if the URL or the server sets it
     * @param initSql first statement of each new connection, or {@code null}
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

        /** The form that PostgreSQL's driver reads, with or without the prefix of a driver around it. */
        private static final Pattern CLEAR =
                Pattern.compile("jdbc[\\w-]*:([\\w-]+:)*postgresql:([\\w.-]+:)?%s(\\?(%s)?(&(%s)?)*)?"
                        .formatted(PLACES, PARAMETER, PARAMETER));

        /** The form that {@link #isClear} requires, as messages show it. */
        public static final String FORM =
                "jdbc:postgresql://host:port/database?name=value&name=value, without user and password, and with other"
                        + " characters of the database's name as %xx";

        private static final String STATIC = "user and password are read at startup";

        /** A target without settings beyond its URL, whose user and password stay the same. */
        public Target(String setting, String url, @Nullable String username, @Nullable String password) {
            this(setting, url, username, password, STATIC, null, Map.of(), null, null);
        }

        /**
         * Returns whether a URL leads to PostgreSQL, by its own driver or by one around it, such as {@code
         * jdbc:aws-wrapper:postgresql:}.
         */
        public static boolean isPostgresql(String url) {
            return POSTGRESQL.matcher(url).matches();
        }

        /**
         * Returns whether a URL of PostgreSQL has its parts in their places. Otherwise any part may be a secret, for example a
         * password in front of a host, and the driver's messages would quote it.
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

        /** Without secrets. */
        @Override
        public String toString() {
            return "%s of %s".formatted(address(), setting);
        }
    }

    /**
     * Makes a pool.
     *
     * @param targets returns the target of each new connection, or throws a {@link ClaimDatabaseException}
     * @param maximumPoolSize most connections at any time
     * @param timeout longest wait for a connection, and for the driver to open one, of a second at least
     */
    public ClaimPool(Supplier<Target> targets, int maximumPoolSize, Duration timeout) {
        this(targets, new PrimaryDriver(targets, timeout), maximumPoolSize, timeout);
    }

    /** Makes a pool for a target that stays the same. */
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
     * Takes connections from an application pool. The pool is neither configured nor closed.
     *
     * @param marked with {@link io.exactlyonce.ExactlyOnceDataSource}
     * @param maximumPoolSize most connections that it gives at any time; a HikariCP pool has its own value
     */
    public static ClaimPool around(DataSource marked, int maximumPoolSize) {
        return new ClaimPool(null, marked, null, maximumPoolSize, null);
    }

    /** Makes the pool without a configuration object, so that it starts with its first connection. */
    private static HikariDataSource pool(DataSource driver, int maximumPoolSize, Duration timeout) {
        var pool = new HikariDataSource();
        pool.setPoolName(NAME);
        pool.setDataSource(driver);
        pool.setMaximumPoolSize(maximumPoolSize);
        pool.setMinimumIdle(1);
        pool.setIdleTimeout(Duration.ofMinutes(1).toMillis());
        pool.setConnectionTimeout(timeout.toMillis());
        pool.setInitializationFailTimeout(-1);
        // Here and not in each transaction, where it would cost a round trip.
        pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        pool.setExceptionOverride(new SQLExceptionOverride() {
            /**
             * After a failover, connections to the demoted primary stay open and look healthy. After a crash, the pool hands out recently
             * used connections without validation. Each of them would fail a claim.
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

    /** Keeps no connection open, because operators are rare. */
    private static HikariDataSource forOperators(DataSource driver, Duration timeout) {
        HikariDataSource pool = pool(driver, FOR_OPERATORS, timeout);
        pool.setPoolName("exactly-once-operators");
        pool.setMinimumIdle(0);
        pool.setIdleTimeout(OPERATORS_IDLE.toMillis());
        return pool;
    }

    /**
     * Returns the DataSource for operators' look-ups and decisions, which leaves the connections of claims alone. A marked DataSource gives
     * operators at most {@link #lentToOperators} of its own connections.
     */
    public DataSource operators() {
        return operators == null ? dataSource : operators;
    }

    /** Returns how many connections of this pool operators may take at a time. */
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
     * Returns the limit of the wait for a connection, if the application set it, by a property or by its own pool.
     * Empty otherwise, or if its pool does not report it.
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

    /** Returns the shortest time in which the driver opened a connection; empty before the first, and for a marked pool. */
    public Optional<Duration> shortestConnectTime() {
        return driver instanceof PrimaryDriver ours ? ours.shortestConnectTime() : Optional.empty();
    }

    /** Returns the setting that names the database. */
    public String setting() {
        return targets == null ? MARKED : known(targets).setting();
    }

    /** Returns the settings that a connection depends on. */
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
     * Returns known hosts, ports and database, without credentials and parameters.
     *
     * @throws ClaimDatabaseException if claims cannot connect as the application does
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
     * Returns whether a connection has failed in such a way that older ones probably fail too, and a new one probably
     * works. A timeout does not count: the server may only be slow, and a retry would take as long.
     *
     * @param failure with the driver's exception as itself or among its causes; the outermost SQLSTATE decides
     */
    public static boolean isStale(Throwable failure) {
        String state = sqlState(failure);
        return (state.startsWith("08") || SERVER_GONE.contains(state))
                && !(Causes.root(failure) instanceof SocketTimeoutException);
    }

    /** Returns the outermost SQLSTATE of a failure and its causes; empty if there is none. */
    public static String sqlState(Throwable failure) {
        return Causes.of(failure)
                .map(cause -> cause instanceof SQLException sql ? sql.getSQLState() : null)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse("");
    }

    /**
     * Evicts a stale connection from a pool of the application, and from a HikariCP pool all open ones. The library's
     * own pool does so by itself.
     *
     * @param connection that failed, not yet returned
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
