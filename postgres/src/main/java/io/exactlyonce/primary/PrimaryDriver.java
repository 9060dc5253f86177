package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Opens connections to the primary. Each new connection reads the target anew, so a rotated password needs no restart.
 * Open sessions continue with their first password.
 */
final class PrimaryDriver extends AbstractDataSource {

    /** SQLSTATEs for a wrong password, and for a user that may not connect. */
    private static final Set<String> REFUSED = Set.of("28P01", "28000");

    /** The driver's SQLSTATE if it has no password to send. Other failures have this SQLSTATE too. */
    private static final String NO_PASSWORD = "08004";

    private static final String UNREACHABLE = "08001";

    private final Supplier<ClaimPool.Target> targets;
    private final Duration timeout;
    private volatile @Nullable Duration shortest;

    PrimaryDriver(Supplier<ClaimPool.Target> targets, Duration timeout) {
        this.targets = targets;
        this.timeout = timeout;
    }

    @Override
    public Connection getConnection() throws SQLException {
        ClaimPool.Target target = target();
        long start = System.nanoTime();
        Connection connection = open(target);
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        Duration before = shortest;
        shortest = before == null || took.compareTo(before) < 0 ? took : before;
        return connection;
    }

    /**
     * Returns the current target. Throws an {@code SQLException} on failure, because a pool reports only these, and
     * logs other exceptions at DEBUG.
     */
    private ClaimPool.Target target() throws SQLException {
        try {
            return targets.get();
        } catch (RuntimeException failure) {
            throw new SQLException(failure.getMessage(), UNREACHABLE, failure);
        }
    }

    private Connection open(ClaimPool.Target target) throws SQLException {
        Connection connection;
        try {
            connection = new OneTarget(target, timeout).getConnection();
        } catch (SQLException failure) {
            throw explained(failure, target);
        }
        try {
            prepare(connection, target);
        } catch (SQLException failure) {
            connection.close();
            throw failure;
        }
        return connection;
    }

    private static void prepare(Connection connection, ClaimPool.Target target) throws SQLException {
        if (target.schema() != null) {
            connection.setSchema(target.schema());
        }
        if (target.initSql() != null) {
            try (Statement first = connection.createStatement()) {
                first.execute(target.initSql());
            }
        }
    }

    /**
     * Adds the setting and the remedy to a failure. The result has no cause, because log lines at WARN quote the
     * innermost message only.
     */
    private static SQLException explained(SQLException failure, ClaimPool.Target target) {
        String state = ClaimPool.sqlState(failure);
        String told = String.valueOf(failure.getMessage());
        if (!REFUSED.contains(state) && !(NO_PASSWORD.equals(state) && told.contains("password"))) {
            return failure;
        }
        String user = target.username() == null ? "the user of the URL" : "user '%s'".formatted(target.username());
        return new SQLException(
                "%s refuses %s (SQLSTATE %s, %s); %s"
                        .formatted(target.address(), user, state, told, target.credentials()),
                state);
    }

    /** Returns the shortest time in which a connection was opened; empty before the first. */
    Optional<Duration> shortestConnectTime() {
        return Optional.ofNullable(shortest);
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return getConnection();
    }

    /** Does nothing, because the driver's properties set the timeout. */
    @Override
    public void setLoginTimeout(int seconds) {}

    /** Returns the time for which the pool waits when it closes. */
    @Override
    public int getLoginTimeout() {
        return (int) timeout.toSeconds();
    }

    /** The JDBC driver with timeouts. Without timeouts, the driver waits forever for a dead server. */
    static final class OneTarget extends DriverManagerDataSource {

        /** Makes the driver. Parameters of the URL override the settings that are set here. */
        OneTarget(ClaimPool.Target target, Duration timeout) {
            setUrl(target.url().replaceAll("(?<=[?&])targetServerType=[^&]*", ""));
            setUsername(target.username());
            setPassword(target.password());
            if (target.driver() != null) {
                setDriverClassName(target.driver());
            }
            var settings = new Properties();
            settings.setProperty("ApplicationName", ClaimPool.NAME);
            settings.setProperty("loginTimeout", String.valueOf(timeout.toSeconds()));
            // Claims take milliseconds, so a reply this late means that the server or the network is down. A lease of
            // 30 s is renewed after 15 s. A renewal that waits this long for a reply and then 3 s for a new connection
            // has used 8 of the remaining 15 s, and can still be retried.
            settings.setProperty("socketTimeout", "5");
            settings.setProperty("tcpKeepAlive", "true");
            // The driver's messages would quote keys and results, which may be personal data.
            settings.setProperty("logServerErrorDetail", "false");
            if (target.address().contains(",")) {
                // A host that drops packets must leave time to try the next host.
                settings.setProperty("connectTimeout", "1");
                // The time for which the driver remembers that a host is a replica. After a failover, that host may be
                // the primary.
                settings.setProperty("hostRecheckSeconds", "1");
            }
            settings.putAll(target.settings());
            settings.setProperty("targetServerType", "primary");
            setConnectionProperties(settings);
        }

        /**
         * Hides parts of the URL: a driver that cannot parse a URL reports or logs parts of it, and a manager without a
         * driver reports the whole URL.
         */
        @Override
        protected Connection getConnectionFromDriverManager(String url, Properties settings) throws SQLException {
            if (ClaimPool.Target.isPostgresql(url) && !ClaimPool.Target.isClear(url)) {
                throw new SQLException("the URL is not of the form " + ClaimPool.Target.FORM);
            }
            try {
                return super.getConnectionFromDriverManager(url, settings);
            } catch (SQLException failure) {
                String message = String.valueOf(failure.getMessage());
                if (!message.contains(url)) {
                    throw failure;
                }
                throw new SQLException(message.replace(url, ClaimPool.withoutSecrets(url)), failure.getSQLState());
            }
        }
    }
}
