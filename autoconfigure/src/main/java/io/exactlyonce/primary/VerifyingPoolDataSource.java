package io.exactlyonce.primary;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Borrows from a pool of the application's, and hands out only connections whose server proves to be a primary: each time, for
 * nothing is known of what the pool does in between. What cannot prove it, or is broken, is thrown out of the pool, and
 * another one is tried.
 */
final class VerifyingPoolDataSource extends DelegatingDataSource {

    /**
     * Most connections that are tried. A pool that knows no eviction may hold several that lead to a server which was
     * demoted: each of them costs one round trip.
     */
    private static final int MAX_TRIES = 20;

    VerifyingPoolDataSource(DataSource foreign) {
        super(foreign);
    }

    @Override
    public Connection getConnection() throws SQLException {
        for (int attempt = 1; ; attempt++) {
            Connection connection = super.getConnection();
            try {
                PrimaryCheck.requirePrimary(connection);
                return connection;
            } catch (SQLException | RuntimeException refused) {
                evict(connection, refused);
                if (attempt >= MAX_TRIES || !ConnectionFailure.isStale(refused)) {
                    throw refused;
                }
            }
        }
    }

    @Override
    public Connection getConnection(String username, String password) {
        throw new UnsupportedOperationException("The credentials are part of the DataSource that was given");
    }

    /** A pool that offers no eviction finds the connection broken when it looks at it next. */
    private void evict(Connection connection, Exception refused) {
        try {
            HikariDataSource pool =
                    PrimaryPinnedDataSource.hikari(obtainTargetDataSource()).orElse(null);
            if (pool != null) {
                pool.getHikariPoolMXBean().softEvictConnections();
                pool.evictConnection(connection);
            } else {
                connection.abort(Runnable::run);
            }
            connection.close();
        } catch (SQLException | RuntimeException alsoFailed) {
            refused.addSuppressed(alsoFailed);
        }
    }
}
