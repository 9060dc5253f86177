package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The JDBC driver, with limits: without any of its own it waits for a dead server for ever. */
final class DriverSettings {

    /**
     * Claims take milliseconds: a reply this late means that the server or the way to it is gone. With a lease of 30 s,
     * renewed when half of it is over, a renewal that hangs for this long and then waits for a new connection has lost
     * 8 of its 15 s, and can still be tried again.
     */
    private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(5);

    private static final Duration ONE_OF_SEVERAL = Duration.ofSeconds(1);

    private DriverSettings() {}

    /** @param connectionTimeout longest time that opening a connection may take, in whole seconds rounded down */
    static DataSource of(ConnectionTarget target, Duration connectionTimeout) {
        var driver = new DiscreetDriver();
        driver.setUrl(target.url());
        driver.setUsername(target.username());
        driver.setPassword(target.password());
        driver.setConnectionProperties(defaults(target.jdbcUrl(), connectionTimeout));
        return driver;
    }

    /** Parameters of the URL override these. */
    private static Properties defaults(JdbcUrl url, Duration connectionTimeout) {
        var defaults = new Properties();
        defaults.setProperty("ApplicationName", PrimaryPinnedDataSource.POOL_NAME);
        defaults.setProperty("loginTimeout", seconds(connectionTimeout));
        defaults.setProperty("socketTimeout", seconds(SOCKET_TIMEOUT));
        defaults.setProperty("tcpKeepAlive", "true");
        // The driver's messages would quote keys and results, which may be personal data.
        defaults.setProperty("logServerErrorDetail", "false");
        if (url.namesSeveralHosts()) {
            defaults.setProperty("targetServerType", "primary");
            // A host that drops packets must leave time for the next one.
            defaults.setProperty("connectTimeout", seconds(ONE_OF_SEVERAL));
            // For this long the driver remembers which one was a replica: after a failover it is the one to ask.
            defaults.setProperty("hostRecheckSeconds", seconds(ONE_OF_SEVERAL));
        }
        return defaults;
    }

    private static String seconds(Duration length) {
        return String.valueOf(length.toSeconds());
    }

    /** A driver that cannot parse a URL says so with all of it, and a manager that finds no driver for it does, too. */
    private static final class DiscreetDriver extends DriverManagerDataSource {

        @Override
        protected Connection getConnectionFromDriverManager(String url, Properties settings) throws SQLException {
            try {
                return super.getConnectionFromDriverManager(url, settings);
            } catch (SQLException failure) {
                throw withoutSecrets(failure, new JdbcUrl(url));
            }
        }

        private static SQLException withoutSecrets(SQLException failure, JdbcUrl url) {
            String message = String.valueOf(failure.getMessage());
            if (!message.contains(url.value())) {
                return failure;
            }
            SQLException discreet = new SQLException(
                    message.replace(url.value(), url.withoutSecrets()), failure.getSQLState(), failure.getErrorCode());
            discreet.setStackTrace(failure.getStackTrace());
            return discreet;
        }
    }
}
