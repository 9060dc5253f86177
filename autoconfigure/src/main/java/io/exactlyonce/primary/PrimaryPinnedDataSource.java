package io.exactlyonce.primary;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.Properties;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A small connection pool for claims alone. Handlers that hold connections for long cannot starve it, so leases are
 * renewed in time.
 *
 * <p>Guaranteed: each physical connection has proved that its server is a primary before anyone gets it; and once a connection broke or
 * met a read-only server, no connection that was open by then is given out again.
 *
 * <p>Not guaranteed: that the primary has all that an earlier primary committed. After a failover to an asynchronous
 * replica it may not.
 *
 * <p>It opens nothing until it is first used, and it keeps one idle connection only: many instances that wait for work
 * must not use up the server's connections. It also starts while the database is down: {@link PrimaryProbe} reports that,
 * with the cause.
 */
public final class PrimaryPinnedDataSource extends DelegatingDataSource implements AutoCloseable {

    private static final String POOL_NAME = "exactly-once-claims";

    /**
     * Claims take milliseconds: a reply this late means that the server or the way to it is gone. With a lease of 30 s,
     * renewed when half of it is over, a renewal that hangs for this long and then waits for a new connection has lost
     * 8 of its 15 s, and can still be tried again.
     */
    private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(5);

    private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(3);

    private static final int MINIMUM_IDLE = 1;
    private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(1);

    private static final Duration ONE_OF_SEVERAL = Duration.ofSeconds(1);

    private final JdbcUrl url;
    private final HikariDataSource pool;

    /**
     * @param url JDBC URL; a PostgreSQL one that names several hosts gets {@code targetServerType=primary}, unless it
     *     sets that parameter itself
     * @param username user, or {@code null} if the URL or the driver knows it
     * @param password password, or {@code null} if there is none
     * @param maximumPoolSize most connections at any time
     */
    public PrimaryPinnedDataSource(
            String url, @Nullable String username, @Nullable String password, int maximumPoolSize) {
        this(new JdbcUrl(url), driver(url, username, password), maximumPoolSize, CONNECTION_TIMEOUT);
    }

    PrimaryPinnedDataSource(JdbcUrl url, DataSource driver, int maximumPoolSize, Duration connectionTimeout) {
        this.url = url;
        this.pool = pool(new PrimaryOnlyDataSource(driver), maximumPoolSize, connectionTimeout);
        setTargetDataSource(pool);
    }

    JdbcUrl url() {
        return url;
    }

    @Override
    public void close() {
        pool.close();
    }

    static DataSource driver(String url, @Nullable String username, @Nullable String password) {
        var driver = new DriverManagerDataSource();
        driver.setUrl(url);
        driver.setUsername(username);
        driver.setPassword(password);
        driver.setConnectionProperties(driverDefaults(new JdbcUrl(url)));
        return driver;
    }

    /** Parameters of the URL override these. Without limits of its own the driver waits for a dead server for ever. */
    private static Properties driverDefaults(JdbcUrl url) {
        var defaults = new Properties();
        defaults.setProperty("ApplicationName", POOL_NAME);
        defaults.setProperty("loginTimeout", String.valueOf(CONNECTION_TIMEOUT.toSeconds()));
        defaults.setProperty("socketTimeout", String.valueOf(SOCKET_TIMEOUT.toSeconds()));
        defaults.setProperty("tcpKeepAlive", "true");
        // The driver's messages would quote keys and results, which may be personal data.
        defaults.setProperty("logServerErrorDetail", "false");
        if (url.namesSeveralHosts()) {
            defaults.setProperty("targetServerType", "primary");
            // A host that drops packets must leave time for the next one.
            defaults.setProperty("connectTimeout", String.valueOf(ONE_OF_SEVERAL.toSeconds()));
        }
        return defaults;
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
