package io.exactlyonce.benchmarks.latency;

import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.benchmarks.process.Postgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A claim and its completion, each with its own commit, on a connection without other work. No solution can be faster.
 */
final class BareCommits implements Contestant {

    private static final String CLAIM = """
            INSERT INTO order_claim (order_id, status, claimed_at) VALUES (?, 'HELD', now())
            ON CONFLICT (order_id) DO NOTHING
            """;
    private static final String COMPLETE =
            "UPDATE order_claim SET status = 'COMPLETED', completed_at = now() WHERE order_id = ?";

    private final Postgres postgres;
    private final String database;

    /** @param database the database of a worker, with its tables */
    BareCommits(Postgres postgres, String database) {
        this.postgres = postgres;
        this.database = database;
    }

    @Override
    public String name() {
        return "two bare JDBC commits";
    }

    /** Warms up without pauses. */
    @Override
    public void warmUp(Turn turn) throws SQLException {
        try (Connection connection = postgres.dataSource(database).getConnection();
                PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement complete = connection.prepareStatement(COMPLETE)) {
            for (int i = 0; i < turn.messages(); i++) {
                pair(claim, complete);
            }
        }
    }

    @Override
    public Reading run(Turn turn) throws Exception {
        try (Connection connection = postgres.dataSource(database).getConnection();
                PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement complete = connection.prepareStatement(COMPLETE)) {
            List<Double> micros = new ArrayList<>();
            for (Pace pace = new Pace(turn.messages()); pace.await(); ) {
                micros.add(pair(claim, complete));
            }
            return Reading.of(Measurements.median(micros));
        }
    }

    private static double pair(PreparedStatement claim, PreparedStatement complete) throws SQLException {
        String key = UUID.randomUUID().toString();
        long startNanos = System.nanoTime();
        claim.setString(1, key);
        claim.executeUpdate();
        complete.setString(1, key);
        complete.executeUpdate();
        return (System.nanoTime() - startNanos) / 1e3;
    }
}
