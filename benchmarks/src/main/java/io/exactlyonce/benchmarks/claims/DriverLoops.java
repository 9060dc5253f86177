package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.servers.LocalPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Replaces pgbench by threads with one JDBC connection each. */
final class DriverLoops implements RawStatements {

    private static final String CLAIM = """
            INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                            lease_until, first_claimed_at, claimed_at, expires_at)
            SELECT 'orders', ? || '-' || i, 'HELD', ?, 'driver', 1,
                   (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, false,
                   clock_timestamp() + interval '30 s', clock_timestamp(), clock_timestamp(),
                   clock_timestamp() + interval '14 days'
            FROM generate_series(1, ?) AS i
            ON CONFLICT (scope, key) DO NOTHING
            """;

    private static final String COMPLETE = """
            UPDATE exactly_once_claim SET status = 'COMPLETED', completed_at = clock_timestamp()
            WHERE scope = 'orders' AND key = ANY (ARRAY(SELECT ? || '-' || i FROM generate_series(1, ?) AS i))
              AND claim_id = ? AND status = 'HELD'
            """;

    private final BenchmarkDatabase database;

    DriverLoops(BenchmarkDatabase database) {
        this.database = database;
    }

    @Override
    public Contestant single(int clients) {
        return contestant("JDBC driver, one row, %d clients".formatted(clients), clients, 1);
    }

    @Override
    public Contestant batchOfFifty(int clients) {
        return contestant("JDBC driver, fifty rows, %d clients".formatted(clients), clients, 50);
    }

    /** Returns clients that claim and complete this number of rows in each statement. */
    Contestant batch(int clients, int rows) {
        return contestant("JDBC driver, %d rows, %d clients".formatted(rows, clients), clients, rows);
    }

    private Contestant contestant(String name, int clients, int keys) {
        return new Contestant() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public Reading run(Turn turn) throws Exception {
                database.reset();
                long startNanos = System.nanoTime();
                long pairs =
                        runClients(clients, keys, startNanos + turn.length().toNanos());
                long nanos = System.nanoTime() - startNanos;
                database.requireAllCompleted();
                return Reading.of(pairs * keys * 1e9 / nanos);
            }
        };
    }

    private long runClients(int clients, int keys, long end) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(clients);
        try {
            List<Future<Long>> running = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                running.add(executor.submit(() -> runClient(keys, end)));
            }
            long pairs = 0;
            for (Future<Long> client : running) {
                pairs += client.get();
            }
            return pairs;
        } finally {
            executor.shutdownNow();
        }
    }

    private long runClient(int keys, long end) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres&options=-c%%20enable_seqscan=off"
                .formatted(database.port());
        try (Connection connection = DriverManager.getConnection(url + "&password=" + LocalPostgres.password());
                PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement complete = connection.prepareStatement(COMPLETE)) {
            long pairs = 0;
            while (end - System.nanoTime() > 0) {
                UUID id = UUID.randomUUID();
                claim.setString(1, id.toString());
                claim.setObject(2, id);
                claim.setInt(3, keys);
                claim.executeUpdate();
                complete.setString(1, id.toString());
                complete.setInt(2, keys);
                complete.setObject(3, id);
                complete.executeUpdate();
                pairs++;
            }
            return pairs;
        }
    }
}
