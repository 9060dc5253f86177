package io.exactlyonce.autoconfigure;

import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.util.Credentials;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Logger;

/**
 * A driver in the place of PostgreSQL's that never connects: it records the requested connections, and refuses the
 * password.
 */
public final class RecordingDriver implements Driver, AutoCloseable {

    static final String URL = "jdbc:recorded:postgresql://db.example/shop";

    /** A request for a connection. */
    record Asked(String url, Properties settings) {

        String user() {
            return settings.getProperty("user");
        }

        String password() {
            return settings.getProperty("password");
        }
    }

    private final List<Asked> asked = new CopyOnWriteArrayList<>();

    static RecordingDriver register() throws SQLException {
        RecordingDriver driver = new RecordingDriver();
        DriverManager.registerDriver(driver);
        return driver;
    }

    /** Always has the same. */
    public static final class Tokens implements HikariCredentialsProvider {
        @Override
        public Credentials getCredentials() {
            return Credentials.of("shop", "one");
        }
    }

    Asked last() {
        return asked.get(asked.size() - 1);
    }

    @Override
    public Connection connect(String url, Properties settings) throws SQLException {
        if (!acceptsURL(url)) {
            return null;
        }
        asked.add(new Asked(url, (Properties) settings.clone()));
        throw new SQLException("FATAL: password authentication failed", "28P01");
    }

    @Override
    public boolean acceptsURL(String url) {
        return url.startsWith("jdbc:recorded:");
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties settings) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 1;
    }

    @Override
    public int getMinorVersion() {
        return 0;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public void close() throws SQLException {
        DriverManager.deregisterDriver(this);
    }
}
