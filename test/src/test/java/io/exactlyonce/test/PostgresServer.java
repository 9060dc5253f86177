package io.exactlyonce.test;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.SynchronousCommit;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.PostgresParkedClaims;
import io.exactlyonce.servers.LocalPostgres;
import java.time.Duration;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A claim store on a PostgreSQL server: one for the whole JVM, stopped with it. Nothing here asks whether writes survive a
 * crash of the server, so it does not wait for the disk.
 */
public final class PostgresServer {

    private static final int CONNECTIONS = 16;
    private static final Duration RETENTION = Duration.ofDays(365);

    private final JdbcTemplate jdbc;
    private final ClaimStore store;
    private final ParkedClaims parked;

    private PostgresServer() {
        var pool = new HikariDataSource();
        var server = LocalPostgres.start(settings -> settings.setServerConfig("fsync", "off"));
        pool.setJdbcUrl(server.getJdbcUrl());
        pool.setUsername(server.getUsername());
        pool.setMaximumPoolSize(CONNECTIONS);
        var table = new ClaimTable(pool, RETENTION, SynchronousCommit.ON);
        new ClaimSchema(table).create();
        this.jdbc = new JdbcTemplate(pool);
        this.store = new PostgresClaimStore(table);
        this.parked = new PostgresParkedClaims(table);
    }

    /** Returns the server of this JVM, and starts it first if need be. */
    public static PostgresServer shared() {
        return Holder.SHARED;
    }

    /** Returns the store that keeps its claims here. */
    public ClaimStore store() {
        return store;
    }

    /** Returns the parked ones of them. */
    public ParkedClaims parked() {
        return parked;
    }

    /** Makes a claim's lease end now. */
    public void endLease(ClaimId claim) {
        jdbc.update("UPDATE exactly_once_claim SET lease_until = clock_timestamp() WHERE claim_id = ?", claim.value());
    }

    /** Makes a scope's rows older. */
    public void age(String scope, Duration time) {
        jdbc.update("""
                UPDATE exactly_once_claim
                SET lease_until = lease_until - by.time, claimed_at = claimed_at - by.time,
                    first_claimed_at = first_claimed_at - by.time, completed_at = completed_at - by.time,
                    parked_at = parked_at - by.time, expires_at = expires_at - by.time
                FROM (SELECT ? * interval '1 second' AS time) AS by
                WHERE scope = ?
                """, time.toSeconds(), scope);
    }

    /** Returns the server's version as it reports it, for example {@code 14.22}. */
    String version() {
        return jdbc.queryForObject("SHOW server_version", String.class);
    }

    private static final class Holder {
        private static final PostgresServer SHARED = new PostgresServer();
    }
}
