package io.exactlyonce.benchmarks.volume;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.benchmarks.claims.ClaimThreads;
import io.exactlyonce.benchmarks.process.Postgres;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.Retention;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.servers.LocalPostgres;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A claim table with a given number of completed rows. New keys are claimed while expired keys are deleted. */
final class FullTable implements Contestant, AutoCloseable {

    private static final int CONNECTIONS = 10;
    private static final int THREADS = 64;
    private static final int DELETED_AT_A_TIME = 500;

    /** Approximately as many rows as retention deletes in a turn. Retention pauses for as long as it works. */
    private static final int EXPIRED = 50_000;

    /**
     * Fills the table. Keys are as long and as random as UUIDs. Only the expired keys are near the end of their
     * retention.
     */
    private static final String FILL = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                            lease_until, first_claimed_at, claimed_at, completed_at, expires_at)
            SELECT 'orders', gen_random_uuid()::text, 'COMPLETED', gen_random_uuid(), 'benchmark', 1, i, false,
                   at, at, at, at, at + interval '14 days'
            FROM generate_series(1, %d) AS i, (SELECT now() - interval '%d days' AS at) AS made
            """;

    /**
     * Fills the table, and then makes the indexes, because inserting tens of millions of random keys into indexes takes
     * hours. The indexes are as full as random keys leave them. A table that is emptied in the same transaction needs no
     * log if the server keeps a minimal log.
     */
    private static final String FILL_AND_INDEX = """
            SET maintenance_work_mem = '1GB';
            DO $$
            DECLARE
                others text[] := (SELECT array_agg(indexdef) FROM pg_indexes
                                  WHERE tablename = 'exactly_once_claim' AND indexname <> 'exactly_once_claim_pkey');
                made text;
            BEGIN
                EXECUTE (SELECT string_agg('DROP INDEX ' || indexname, '; ') FROM pg_indexes
                         WHERE tablename = 'exactly_once_claim' AND indexname <> 'exactly_once_claim_pkey');
                ALTER TABLE exactly_once_claim DROP CONSTRAINT exactly_once_claim_pkey;
                TRUNCATE exactly_once_claim;
            %s;
                ALTER TABLE exactly_once_claim ADD CONSTRAINT exactly_once_claim_pkey PRIMARY KEY (scope, key)
                    WITH (fillfactor = 70);
                FOREACH made IN ARRAY others LOOP
                    EXECUTE made;
                END LOOP;
            END $$
            """;

    private final Postgres postgres;
    private final String database;
    private final long rows;
    private final ClaimPool pool;

    FullTable(Postgres postgres, String database, long rows) throws SQLException {
        this.postgres = postgres;
        this.database = database;
        this.rows = rows;
        postgres.create(database);
        this.pool = new ClaimPool(
                new ClaimPool.Target(
                        "spring.datasource.url", postgres.url(database), "postgres", LocalPostgres.password()),
                CONNECTIONS + 1,
                Duration.ofSeconds(3));
        new ClaimSchema(BenchmarkDatabase.table(pool)).create();
        if (rows > 0) {
            postgres.execute(database, FILL_AND_INDEX.formatted(FILL.formatted(rows, 1)));
        }
        postgres.execute(database, "VACUUM (ANALYZE) exactly_once_claim");
        postgres.execute(database, "CHECKPOINT");
    }

    @Override
    public String name() {
        return "%,d rows".formatted(rows);
    }

    @Override
    public Reading run(Turn turn) throws Exception {
        if (rows == 0) {
            postgres.execute(database, "TRUNCATE exactly_once_claim");
        }
        postgres.execute(database, FILL.formatted(EXPIRED, 15));
        postgres.execute(database, "CHECKPOINT");
        Thread retention = new Thread(this::deleteExpired, "retention");
        retention.start();
        try {
            return Reading.of(
                    new ClaimThreads(pool, THREADS, 1).run(turn.length()).perSecond());
        } finally {
            retention.interrupt();
            retention.join();
        }
    }

    /** Measures operators' calls on the rows. */
    void operate(Findings findings) throws SQLException {
        postgres.execute(database, ParkedKeysInTable.park(rows));
        postgres.execute(database, "VACUUM (ANALYZE) exactly_once_claim");
        postgres.execute(database, "CHECKPOINT");
        new ParkedKeysInTable(BenchmarkDatabase.table(pool)).measure(findings);
    }

    private void deleteExpired() {
        Retention retention = new Retention(
                BenchmarkDatabase.table(pool),
                DELETED_AT_A_TIME,
                List.of(),
                System::nanoTime,
                length -> TimeUnit.NANOSECONDS.sleep(length.toNanos()));
        try {
            while (!Thread.currentThread().isInterrupted()) {
                retention.sweep();
                TimeUnit.MILLISECONDS.sleep(100);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
