package io.exactlyonce.test;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.PostgresParkedClaims;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.servers.LocalPostgres;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A claim store on a PostgreSQL server. All tests of a JVM share the server, which stops with the JVM. The server does
 * not wait for the disk, because no test here crashes the server.
 */
public final class PostgresServer {

    private static final int CONNECTIONS = 16;
    private static final Duration RETENTION = Duration.ofDays(365);

    /** The layout of the claim table. Each layout has a database of its own. */
    public enum Layout {
        PLAIN(ClaimTable.DEFAULT_NAME, "", ""),
        /** The table's name is a key word of SQL, in a schema outside of the search path. */
        NAMED("shop.order", "", ""),
        HASH(ClaimTable.DEFAULT_NAME, "HASH (scope, key)", """
                CREATE TABLE part_0 PARTITION OF exactly_once_claim FOR VALUES WITH (MODULUS 3, REMAINDER 0);
                CREATE TABLE part_1 PARTITION OF exactly_once_claim FOR VALUES WITH (MODULUS 3, REMAINDER 1);
                CREATE TABLE part_2 PARTITION OF exactly_once_claim FOR VALUES WITH (MODULUS 3, REMAINDER 2)
                """),
        /** Most keys of the contracts share one scope, so the partition of this scope has sub-partitions. */
        LIST(ClaimTable.DEFAULT_NAME, "LIST (scope)", """
                CREATE TABLE others PARTITION OF exactly_once_claim DEFAULT;
                CREATE TABLE orders PARTITION OF exactly_once_claim FOR VALUES IN ('orders') PARTITION BY RANGE (key);
                CREATE TABLE orders_0 PARTITION OF orders FOR VALUES FROM (MINVALUE) TO ('6');
                CREATE TABLE orders_6 PARTITION OF orders FOR VALUES FROM ('6') TO ('b');
                CREATE TABLE orders_b PARTITION OF orders DEFAULT
                """);

        private final String table;
        private final String partitionBy;
        private final String partitions;

        Layout(String table, String partitionBy, String partitions) {
            this.table = table;
            this.partitionBy = partitionBy;
            this.partitions = partitions;
        }

        /** Replaces the plain table with a partitioned table, if the layout has partitions. */
        private void apply(JdbcTemplate jdbc) {
            if (!partitionBy.isEmpty()) {
                jdbc.execute("ALTER TABLE exactly_once_claim RENAME TO plain");
                jdbc.execute("CREATE TABLE exactly_once_claim (LIKE plain INCLUDING ALL) PARTITION BY " + partitionBy);
                jdbc.execute("DROP TABLE plain");
                jdbc.execute(partitions);
            }
        }
    }

    private final ClaimTable table;
    private final JdbcTemplate jdbc;
    private final ClaimStore store;
    private final ParkedClaims parked;

    private PostgresServer(LocalPostgres server, Layout layout) {
        var pool = new HikariDataSource();
        pool.setJdbcUrl(server.createDatabase(layout.name().toLowerCase(Locale.ROOT)));
        pool.setUsername(server.getUsername());
        pool.setPassword(server.getPassword());
        pool.setMaximumPoolSize(CONNECTIONS);
        this.table = new ClaimTable(layout.table, pool, RETENTION, SynchronousCommit.ON);
        this.jdbc = new JdbcTemplate(pool);
        jdbc.execute("CREATE SCHEMA shop");
        var schema = new ClaimSchema(table);
        schema.create();
        layout.apply(jdbc);
        schema.verify();
        this.store = new PostgresClaimStore(table);
        this.parked = new PostgresParkedClaims(table);
    }

    /** Returns the server of this JVM with a plain table, and starts it at the first call. */
    public static PostgresServer shared() {
        return shared(Layout.PLAIN);
    }

    /** Returns the server of this JVM with a table of this layout, and starts it at the first call. */
    public static PostgresServer shared(Layout layout) {
        return Holder.shared(layout);
    }

    /** Returns the claim store of this server. */
    public ClaimStore store() {
        return store;
    }

    /** Returns the store's parked claims. */
    public ParkedClaims parked() {
        return parked;
    }

    /** Makes a claim's lease end now. */
    public void endLease(ClaimId claim) {
        jdbc.update(table.sql("UPDATE {table} SET lease_until = clock_timestamp() WHERE claim_id = ?"), claim.value());
    }

    /** Makes a scope's rows older. */
    public void age(String scope, Duration time) {
        jdbc.update(table.sql("""
                UPDATE {table}
                SET lease_until = lease_until - by.time, claimed_at = claimed_at - by.time,
                    first_claimed_at = first_claimed_at - by.time, completed_at = completed_at - by.time,
                    parked_at = parked_at - by.time, expires_at = expires_at - by.time
                FROM (SELECT ? * interval '1 second' AS time) AS by
                WHERE scope = ?
                """), time.toSeconds(), scope);
    }

    /** Returns the version that the server reports, for example {@code 14.22}. */
    String version() {
        return jdbc.queryForObject("SHOW server_version", String.class);
    }

    private static final class Holder {
        private static final LocalPostgres SERVER =
                LocalPostgres.start(settings -> settings.setServerConfig("fsync", "off"));
        private static final Map<Layout, PostgresServer> SHARED = new EnumMap<>(Layout.class);

        static synchronized PostgresServer shared(Layout layout) {
            return SHARED.computeIfAbsent(layout, its -> new PostgresServer(SERVER, its));
        }
    }
}
