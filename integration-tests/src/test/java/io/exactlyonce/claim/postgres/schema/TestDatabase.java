package io.exactlyonce.claim.postgres.schema;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.SameDatabase;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;

/** A database for one test with the claim table, its pool, and a way to read and write rows without the store. */
public final class TestDatabase implements AutoCloseable {

    public static final Duration RETENTION = Duration.ofDays(14);

    /** {@code -Dclaims.layout=PARTITIONED} runs the tests of claims in PostgreSQL on a table with partitions. */
    private static final Layout LAYOUT = Layout.valueOf(System.getProperty("claims.layout", "PLAIN"));

    /** How the claim table is laid out. */
    public enum Layout {
        /** The table of the script. */
        PLAIN,
        /** The table with four hash partitions, as the documentation creates it. */
        PARTITIONED
    }

    private final String url;
    private final HikariDataSource pool;
    private final DataSource bypass;
    private final JdbcTemplate jdbc;

    public TestDatabase(int maximumPoolSize) {
        this(maximumPoolSize, LAYOUT);
    }

    public TestDatabase(int maximumPoolSize, Layout layout) {
        EmbeddedDatabase server = EmbeddedDatabase.shared();
        this.url = server.createDatabase();
        this.pool = new ClaimPool(
                        new ClaimPool.Target("spring.datasource.url", url, server.username(), server.password()),
                        maximumPoolSize,
                        Duration.ofSeconds(3))
                .own()
                .orElseThrow();
        this.bypass = server.dataSource(url);
        this.jdbc = new JdbcTemplate(bypass);
        new ClaimSchema(table()).create();
        if (layout == Layout.PARTITIONED) {
            partition(jdbc);
        }
    }

    /** Partitions the claim table as the documentation says. */
    public static void partition(JdbcTemplate database) {
        database.execute(DocumentedCode.of("postgresql.md").block("partitions"));
    }

    public String url() {
        return url;
    }

    /** Returns the claims' pool. */
    public HikariDataSource pool() {
        return pool;
    }

    /** Returns the table, read through the claims' pool. */
    public ClaimTable table() {
        return table(pool);
    }

    /** Returns the table, read through these connections. */
    public static ClaimTable table(DataSource connections) {
        return new ClaimTable(connections, RETENTION, SynchronousCommit.ON);
    }

    /** Returns a store that uses the claims' pool. */
    public PostgresClaimStore store() {
        return store(pool);
    }

    /** Returns a store that uses these connections. */
    public static PostgresClaimStore store(DataSource connections) {
        return new PostgresClaimStore(table(connections));
    }

    /** Returns the DataSource of an application, without a pool. */
    public DataSource application() {
        return bypass;
    }

    public JdbcTemplate jdbc() {
        return jdbc;
    }

    /** Returns a connection that the caller closes. */
    public Connection newConnection() {
        return DataSourceUtils.getConnection(bypass);
    }

    public Map<String, Object> row(ClaimKey key) {
        return jdbc.queryForMap(
                "SELECT *, xmin::text, ctid::text FROM exactly_once_claim WHERE scope = ? AND key = ?",
                key.scope(),
                key.key());
    }

    public void delete(ClaimKey key) {
        jdbc.update("DELETE FROM exactly_once_claim WHERE scope = ? AND key = ?", key.scope(), key.key());
    }

    /**
     * Deletes a claim's row, as the retention does, and moves the row of another key to its place.
     *
     * @return the other row
     */
    public ClaimId giveItsPlaceAway(ClaimKey key) {
        String placeOf = "SELECT tableoid || ' ' || ctid FROM exactly_once_claim WHERE scope = ? AND key = ?";
        String place = jdbc.queryForObject(placeOf, String.class, key.scope(), key.key());
        delete(key);
        jdbc.execute("VACUUM (INDEX_CLEANUP ON) exactly_once_claim");
        for (int others = 0; others < 1_000; others++) {
            ClaimId other = request().id();
            insert(jdbc, other);
            if (place.equals(jdbc.queryForObject(
                    placeOf, String.class, other.key().scope(), other.key().key()))) {
                return other;
            }
        }
        throw new IllegalStateException("No other row got the place " + place);
    }

    /** Returns the number of the advisory lock that transactions take on a key. */
    public long lockOf(ClaimKey key) {
        return SameDatabase.number(key)
                ^ jdbc.queryForObject("SELECT 'exactly_once_claim'::regclass::oid::bigint", Long.class);
    }

    public void endLease(ClaimId claim) {
        jdbc.update("UPDATE exactly_once_claim SET lease_until = clock_timestamp() WHERE claim_id = ?", claim.value());
    }

    /** Inserts a claim's row without the store, in the open transaction and with an expired lease. */
    public static void insert(JdbcTemplate transaction, ClaimId claim) {
        transaction.update("""
                INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                                lease_until, first_claimed_at, claimed_at, expires_at)
                VALUES (?, ?, 'HELD', ?, 'worker', 1, 1, false, now(), now(), now(), now())
                """, claim.key().scope(), claim.key().key(), claim.value());
    }

    public static ClaimRequest request() {
        return request(new ClaimKey("orders", UUID.randomUUID().toString()));
    }

    public static ClaimRequest request(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", Duration.ofMinutes(1));
    }

    @Override
    public void close() {
        pool.close();
    }
}
