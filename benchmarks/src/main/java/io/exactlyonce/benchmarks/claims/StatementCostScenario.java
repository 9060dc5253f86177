package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * (l): PostgreSQL's processor time for a claim and its completion, over all of its processes. There is one thread, so
 * that each call of the store is a separate statement. The server does not wait for the disk. Then each kind of call is
 * measured alone.
 */
public final class StatementCostScenario implements Scenario {

    private static final int CALLS = 12_000;
    private static final List<Integer> KEYS = List.of(1, 4, 10);
    private static final String SERVER = "PostgreSQL's CPU, us a key";

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        try (BenchmarkDatabase database = BenchmarkDatabase.notDurable()) {
            DriverLoops driver = new DriverLoops(database);
            Contestant one = new Store(database, 1);
            Contestant ten = new Store(database, 10);
            Contestant driverOne = new Timed(database, driver.single(1));
            Contestant driverTen = new Timed(database, driver.batch(1, 10));
            Measurements measured = Measurements.of(List.of(one, ten, driverOne, driverTen), plan);
            findings.table("Claim and complete, one thread; PostgreSQL not durable", measured.table("keys/s"));
            findings.table("Each call alone, the same server", costs(database, plan));
            findings.figures(Map.of(
                    "l_server_micros_alone", measured.median(one, SERVER),
                    "l_server_micros_of_ten", measured.median(ten, SERVER),
                    "l_alone_vs_driver", measured.ratio(one, driverOne, SERVER),
                    "l_of_ten_vs_driver", measured.ratio(ten, driverTen, SERVER)));
        }
    }

    private interface Call {
        void run(int number) throws Exception;
    }

    private static String costs(BenchmarkDatabase database, Plan plan) throws Exception {
        int calls = plan.isShort() ? 100 : CALLS;
        database.reset();
        StringBuilder table = new StringBuilder("""
                | A call | PostgreSQL's CPU, us | client's thread, us |
                |---|---|---|
                """);
        try (Connection connection = database.pool().dataSource().getConnection();
                PreparedStatement nothing = connection.prepareStatement("SELECT 1")) {
            table.append(row(
                    database,
                    calls,
                    "`SELECT 1`",
                    number -> nothing.executeQuery().close()));
        }
        PostgresClaimStore store = new PostgresClaimStore(BenchmarkDatabase.table(database.pool()));
        for (int keys : KEYS) {
            List<List<ClaimRequest>> requests = Stream.generate(() -> ClaimThreads.newKeys(keys))
                    .limit(calls)
                    .toList();
            table.append(row(database, calls, "claims of " + keys, number -> store.claim(requests.get(number))));
            table.append(row(
                    database,
                    calls,
                    "completions of " + keys,
                    number -> store.resolve(ClaimThreads.ends(requests.get(number)))));
            table.append(row(
                    database,
                    calls,
                    "claims of %d that are completed".formatted(keys),
                    number -> store.claim(requests.get(number))));
        }
        return table.toString();
    }

    /** Returns a table row. The first quarter of the calls warms up. */
    private static String row(BenchmarkDatabase database, int calls, String name, Call call) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int warm = calls / 4;
        for (int number = 0; number < warm; number++) {
            call.run(number);
        }
        Duration before = database.processorTime();
        long beforeNanos = threads.getCurrentThreadCpuTime();
        for (int number = warm; number < calls; number++) {
            call.run(number);
        }
        double measured = (calls - warm) * 1e3;
        return "| %s | %.0f | %.0f |%n"
                .formatted(
                        name,
                        database.processorTime().minus(before).toNanos() / measured,
                        (threads.getCurrentThreadCpuTime() - beforeNanos) / measured);
    }

    /** The store alone, without the engine. */
    private record Store(BenchmarkDatabase database, int keys) implements Contestant {

        @Override
        public String name() {
            return "store, %d keys a call".formatted(keys);
        }

        @Override
        public Reading run(Turn turn) throws Exception {
            database.reset();
            PostgresClaimStore store = new PostgresClaimStore(BenchmarkDatabase.table(database.pool()));
            Duration before = database.processorTime();
            long startNanos = System.nanoTime();
            long pairs = ClaimThreads.claimAndComplete(
                    store::claim,
                    resolutions -> store.resolve(resolutions).granted(),
                    keys,
                    startNanos + turn.length().toNanos());
            double perSecond = pairs * 1e9 / (System.nanoTime() - startNanos);
            return reading(perSecond, database.processorTime().minus(before), pairs);
        }
    }

    /** A contestant whose figure is the server's processor time per unit of another contestant's work. */
    private record Timed(BenchmarkDatabase database, Contestant contestant) implements Contestant {

        @Override
        public String name() {
            return contestant.name();
        }

        @Override
        public Reading run(Turn turn) throws Exception {
            Duration before = database.processorTime();
            double perSecond = contestant.run(turn).value();
            Duration spent = database.processorTime().minus(before);
            return reading(perSecond, spent, database.requireAllCompleted());
        }
    }

    private static Reading reading(double perSecond, Duration spent, long pairs) {
        return new Reading(perSecond, Map.of(SERVER, spent.toNanos() / 1e3 / pairs));
    }
}
