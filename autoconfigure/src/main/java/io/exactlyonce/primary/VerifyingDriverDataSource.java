package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Opens physical connections, and hands out only those whose server proved to be a primary. */
final class VerifyingDriverDataSource extends DelegatingDataSource {

    private volatile int loginTimeout;

    VerifyingDriverDataSource(DataSource driver) {
        super(driver);
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        try {
            PrimaryCheck.requirePrimary(connection);
            return connection;
        } catch (SQLException | RuntimeException refused) {
            close(connection, refused);
            throw refused;
        }
    }

    /** Only remembered: the limit that counts is among the driver's properties. */
    @Override
    public void setLoginTimeout(int seconds) {
        loginTimeout = seconds;
    }

    /** The pool waits for as long as this when it closes. */
    @Override
    public int getLoginTimeout() {
        return loginTimeout;
    }

    private static void close(Connection connection, Exception refused) {
        try {
            connection.close();
        } catch (SQLException alsoFailed) {
            refused.addSuppressed(alsoFailed);
        }
    }
}
