package io.exactlyonce.primary;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/**
 * Throws all connections out of the pool when a write on one of them met a read-only server. After a failover the
 * connections to the demoted primary stay open and look healthy; without this each of them would fail a claim of its own.
 *
 * <p>Connections that are in use work on, and are closed when they come back. Each stale one that was in use does this
 * again, at the price of connections that have just been opened: they are few, and it happens once per failover.
 */
final class ReadOnlyEviction implements SQLExceptionOverride {

    private final HikariDataSource pool;

    ReadOnlyEviction(HikariDataSource pool) {
        this.pool = pool;
    }

    @java.lang.Override
    public Override adjudicate(SQLException failure) {
        if (!NotPrimaryException.READ_ONLY_SQL_TRANSACTION.equals(failure.getSQLState())) {
            return Override.CONTINUE_EVICT;
        }
        pool.getHikariPoolMXBean().softEvictConnections();
        return Override.MUST_EVICT;
    }
}
