package io.exactlyonce.primary;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/**
 * Throws all connections out of the pool when one of them met a read-only server, or broke. After a failover the
 * connections to the demoted primary stay open and look healthy; after a crash the ones that were used a moment ago are not
 * looked at before they are given out. Without this each of them would fail a claim of its own.
 *
 * <p>Connections that are in use work on, and are closed when they come back. Each stale one that was in use does this
 * again, at the price of connections that have just been opened: they are few, and it happens once per failover.
 */
final class FailoverEviction implements SQLExceptionOverride {

    private final HikariDataSource pool;

    FailoverEviction(HikariDataSource pool) {
        this.pool = pool;
    }

    @java.lang.Override
    public Override adjudicate(SQLException failure) {
        if (!ConnectionFailure.isStale(failure)) {
            return Override.CONTINUE_EVICT;
        }
        pool.getHikariPoolMXBean().softEvictConnections();
        return Override.MUST_EVICT;
    }
}
