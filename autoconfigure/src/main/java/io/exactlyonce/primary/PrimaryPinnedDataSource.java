package io.exactlyonce.primary;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A small connection pool for claims alone. Handlers that hold connections for long cannot starve it, so leases are
 * renewed in time.
 *
 * <p>Guaranteed: each physical connection has proved that its server is a primary before it is handed out; and once a
 * connection broke or met a read-only server, none that was open by then is given out again. Around a pool of the application's,
 * each connection proves it whenever it is borrowed.
 *
 * <p>Not guaranteed: that the primary has all that an earlier primary committed. After a failover to an asynchronous
 * replica it may not. Nor what commits wait for: sessions may be shared with the application, by its pool or by a pooler, so
 * none is set to anything; what depends on a setting sets it in the transaction, as the claims' statements do.
 *
 * <p>It opens nothing until it is first used, and it keeps one idle connection only: many instances that wait for work
 * must not use up the server's connections. It also starts while the database is down: {@link PrimaryProbe} reports that,
 * with the cause.
 */
public final class PrimaryPinnedDataSource extends DelegatingDataSource implements AutoCloseable {

    /** What sets how long our own pool waits for a connection. */
    public static final String TIMEOUT_PROPERTY = "exactly-once.datasource.connection-timeout";

    static final String POOL_NAME = "exactly-once-claims";

    /** A renewal that waits for a connection has half of its lease, which is 30 s by SQS's default, for that and its retries. */
    static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(3);

    private static final int MINIMUM_IDLE = 1;
    private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(1);

    private final ConnectionTarget.Source source;
    private final @Nullable JdbcUrl url;
    private final SynchronousCommit synchronousCommit;
    private final DataSource unproved;
    private final @Nullable HikariDataSource ownPool;
    private final int maximumPoolSize;
    private final @Nullable Duration connectionTimeout;

    /** As the other constructor, from the application's connection details and with durable commits. */
    public PrimaryPinnedDataSource(
            String url, @Nullable String username, @Nullable String password, int maximumPoolSize) {
        this(
                new ConnectionTarget(ConnectionTarget.Source.APPLICATION, url, username, password),
                maximumPoolSize,
                CONNECTION_TIMEOUT,
                SynchronousCommit.ON);
    }

    /**
     * Makes a pool.
     *
     * @param target where to; a PostgreSQL URL that names several hosts gets {@code targetServerType=primary}, unless it
     *     sets that parameter itself
     * @param maximumPoolSize most connections at any time
     * @param connectionTimeout longest wait for a connection, and for the driver to open one, of a second at least
     * @param synchronousCommit what commits wait for
     */
    public PrimaryPinnedDataSource(
            ConnectionTarget target,
            int maximumPoolSize,
            Duration connectionTimeout,
            SynchronousCommit synchronousCommit) {
        this(
                target,
                DriverSettings.of(target, connectionTimeout),
                maximumPoolSize,
                connectionTimeout,
                synchronousCommit);
    }

    PrimaryPinnedDataSource(
            ConnectionTarget target,
            DataSource driver,
            int maximumPoolSize,
            Duration connectionTimeout,
            SynchronousCommit synchronousCommit) {
        this.source = target.source();
        this.url = target.jdbcUrl();
        this.synchronousCommit = synchronousCommit;
        this.unproved = driver;
        this.maximumPoolSize = maximumPoolSize;
        this.connectionTimeout = connectionTimeout;
        this.ownPool = pool(new VerifyingDriverDataSource(driver), maximumPoolSize, connectionTimeout);
        ownPool.setSchema(target.schema());
        ownPool.setConnectionInitSql(target.initSql());
        setTargetDataSource(ownPool);
    }

    private PrimaryPinnedDataSource(DataSource foreign, int maximumPoolSize, SynchronousCommit synchronousCommit) {
        this.source = ConnectionTarget.Source.MARKED_BEAN;
        this.url = null;
        this.synchronousCommit = synchronousCommit;
        this.unproved = foreign;
        this.maximumPoolSize = maximumPoolSize;
        this.connectionTimeout = hikari(foreign)
                .map(HikariDataSource::getConnectionTimeout)
                .map(Duration::ofMillis)
                .orElse(null);
        this.ownPool = null;
        setTargetDataSource(new VerifyingPoolDataSource(foreign));
    }

    /**
     * Takes connections from a pool of the application's, which is neither configured nor closed.
     *
     * @param foreign marked {@link ExactlyOnceDataSource}
     * @param maximumPoolSize most connections that it gives at any time, unless it is a HikariCP pool, which knows
     * @param synchronousCommit what commits wait for
     */
    public static PrimaryPinnedDataSource around(
            DataSource foreign, int maximumPoolSize, SynchronousCommit synchronousCommit) {
        int most = hikari(foreign).map(HikariDataSource::getMaximumPoolSize).orElse(maximumPoolSize);
        return new PrimaryPinnedDataSource(foreign, most, synchronousCommit);
    }

    /** Returns how many connections it gives at any time. */
    public int maximumPoolSize() {
        return maximumPoolSize;
    }

    /**
     * Returns how long a connection is waited for, where the application chose that: by a property, or by a pool of its own. Empty
     * if it did not, or if its pool does not tell.
     */
    public Optional<Duration> chosenTimeout() {
        boolean isDefault = ownPool != null && CONNECTION_TIMEOUT.equals(connectionTimeout);
        return isDefault ? Optional.empty() : Optional.ofNullable(connectionTimeout);
    }

    /** Returns how long a connection is waited for; our own wait if a pool of the application's does not tell. */
    Duration connectionTimeout() {
        return connectionTimeout == null ? CONNECTION_TIMEOUT : connectionTimeout;
    }

    /** Returns what sets how long a connection is waited for. */
    public String timeoutSetting() {
        return ownPool == null ? "the connectionTimeout of " + source.setting() : TIMEOUT_PROPERTY;
    }

    /** Returns who chose the database, and so what has to be changed for another one. */
    public ConnectionTarget.Source source() {
        return source;
    }

    /** Returns hosts, ports and database, as far as they are known; without credentials and parameters. */
    public String target() {
        return url().map(JdbcUrl::target).orElseGet(source::setting);
    }

    /** Returns the JDBC URL, unless only a pool of the application's knows it. */
    Optional<JdbcUrl> url() {
        return Optional.ofNullable(url);
    }

    /** Returns what commits of claims wait for. Each of their statements says so: no session is set to it. */
    public SynchronousCommit synchronousCommit() {
        return synchronousCommit;
    }

    /** Returns where connections come from before any of them has proved anything. */
    DataSource unproved() {
        return unproved;
    }

    @Override
    public void close() {
        if (ownPool != null) {
            ownPool.close();
        }
    }

    /** Returns HikariCP's pool behind a DataSource of the application's, if there is one. */
    static Optional<HikariDataSource> hikari(DataSource pool) {
        return Optional.ofNullable(DataSourceUnwrapper.unwrap(pool, HikariConfigMXBean.class, HikariDataSource.class));
    }

    /** Made without a configuration object, which would start it: this way its first connection does. */
    private static HikariDataSource pool(DataSource primary, int maximumPoolSize, Duration connectionTimeout) {
        var pool = new HikariDataSource();
        pool.setPoolName(POOL_NAME);
        pool.setDataSource(primary);
        pool.setMaximumPoolSize(maximumPoolSize);
        pool.setMinimumIdle(MINIMUM_IDLE);
        pool.setIdleTimeout(IDLE_TIMEOUT.toMillis());
        pool.setConnectionTimeout(connectionTimeout.toMillis());
        pool.setInitializationFailTimeout(-1);
        // Here and not in each transaction, where it would cost a round trip.
        pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        pool.setExceptionOverride(new FailoverEviction(pool));
        return pool;
    }
}
