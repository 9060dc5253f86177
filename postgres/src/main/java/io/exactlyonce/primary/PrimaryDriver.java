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
 * Opens connections to the primary. Each new connection reads the credentials again, so a rotated password needs no
 * restart. Connections that are already open need no new password.
 */
final class PrimaryDriver extends AbstractDataSource {

    /** SQLSTATEs for a wrong password, and for a user that may not connect. */
    private static final Set<String> REFUSED = Set.of("28P01", "28000");

    /** SQLSTATE if the driver has no password to send. The driver also uses it for other failures. */
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
     * Returns where to connect now. Each failure is thrown as an {@code SQLException}, because a pool logs other
     * exceptions only at DEBUG.
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
     * Returns an exception for a refused login whose message also says where user and password come from. Returns other
     * failures unchanged. The new exception has no cause, because log lines at WARN quote only the innermost message.
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

    Optional<Duration> shortestConnectTime() {
        return Optional.ofNullable(shortest);
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return getConnection();
    }

    /** Does nothing, because {@link OneTarget} passes the timeout to the driver. */
    @Override
    public void setLoginTimeout(int seconds) {}

    /**
     * Returns the timeout, in seconds. When HikariCP closes, it waits no longer than this for connections that are
     * being opened.
     */
    @Override
    public int getLoginTimeout() {
        return (int) timeout.toSeconds();
    }

    /** Connects to one target, with timeouts. Without timeouts, the driver would wait forever for a dead server. */
    static final class OneTarget extends DriverManagerDataSource {

        /** Sets the driver's settings. Parameters of the URL override them, except {@code targetServerType}. */
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
            // Claims take milliseconds, so after 5 s without a reply the server or the network is down. A lease of 30 s
            // is renewed 15 s before its end. A renewal that waits 5 s for a reply, and then 3 s for a new connection,
            // still has 7 s for a retry.
            settings.setProperty("socketTimeout", "5");
            settings.setProperty("tcpKeepAlive", "true");
            // The driver's messages would otherwise quote keys and results, which may be personal data.
            settings.setProperty("logServerErrorDetail", "false");
            if (target.address().contains(",")) {
                // The driver tries one host after another. A host that does not answer is given up after 1 s, so that
                // time is left for the next host.
                settings.setProperty("connectTimeout", "1");
                // The driver remembers that a host is a replica, but only for 1 s, because a failover may make it the
                // primary.
                settings.setProperty("hostRecheckSeconds", "1");
            }
            settings.putAll(target.settings());
            settings.setProperty("targetServerType", "primary");
            setConnectionProperties(settings);
        }

        /**
         * Opens a connection without secrets in messages. A driver that cannot parse a URL reports or logs parts of it,
         * so such a URL is rejected first. {@code DriverManager} reports the whole URL if it finds no driver, so its
         * message is changed.
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
