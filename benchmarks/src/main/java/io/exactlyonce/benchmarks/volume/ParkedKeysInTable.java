package io.exactlyonce.benchmarks.volume;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution.Completed;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.ParkedClaims.Filter;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.PostgresParkedClaims;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * The times of an operator's list and decisions with parked keys among many rows, and the number of statements of each.
 */
final class ParkedKeysInTable {

    static final int PARKED = 20_000;

    /** Slightly more rows than needed, because the size of a sample is random. */
    static final int FEWEST_ROWS = PARKED * 6 / 5;

    /**
     * Parks completed keys from all parts of the table, as in an incident, so each row of a list is on another page.
     * The parked keys have errors of three classes, and every tenth key has another scope.
     */
    private static final String PARK = """
            WITH sampled AS (
                SELECT ctid AS place FROM exactly_once_claim TABLESAMPLE BERNOULLI (%s)
                WHERE status = 'COMPLETED' AND expires_at > now() ORDER BY random() LIMIT %d
            ), chosen AS (SELECT place, row_number() OVER () AS i FROM sampled)
            UPDATE exactly_once_claim AS claim
            SET scope = CASE WHEN i %% 10 = 0 THEN 'refunds' ELSE 'orders' END, status = 'PARKED', in_doubt = true, completed_at = NULL,
                error = 'shop.Error' || i %% 3 || ': of key ' || i, parked_at = now() - interval '1 day' + i * interval '1 millisecond'
            FROM chosen WHERE claim.ctid = chosen.place
            """;

    /**
     * Returns the statement that parks keys.
     *
     * @param rows the number of rows in the table
     */
    static String park(long rows) {
        if (rows < FEWEST_ROWS) {
            throw new IllegalArgumentException("bench.rows is %,d, and must be at least %,d for %,d parked keys"
                    .formatted(rows, FEWEST_ROWS, PARKED));
        }
        return PARK.formatted(Math.min(100, 100.0 * FEWEST_ROWS / rows * 1.05), PARKED);
    }

    private static final int REPEATS = 50;
    private static final int PAGE = 100;
    private static final int MANY = 1_000;

    private final DataSource connections;
    private final ParkedClaims parked;
    private String latest = "";
    private int statements;
    private final StringBuilder rows = new StringBuilder(
            "| Operation | times | median, ms | slowest, ms | round trips |%n|---|---|---|---|---|%n".formatted());

    ParkedKeysInTable(ClaimTable table) {
        this.connections = table.dataSource();
        this.parked = new PostgresParkedClaims(table, noting(connections));
    }

    private interface Operation {
        void run() throws SQLException;
    }

    void measure(Findings findings) throws SQLException {
        List<ParkedClaim> all = parked.listMatching(Filter.ALL, PARKED);
        requireSize(PARKED, all);
        double list = measure("list 100 keys", () -> requireSize(PAGE, parked.list(null, PAGE)));
        String plan = plan();
        measure("list the 100 after the middle", () -> requireSize(PAGE, parked.list(all.get(PARKED / 2), PAGE)));
        Filter filter = new Filter("refunds", "shop.Error1", null, null);
        measure(
                "list 100 keys of a scope and a class of error",
                () -> requireSize(PAGE, parked.listMatching(filter, PAGE)));
        Set<UUID> ids =
                all.stream().skip(PARKED - MANY).map(ParkedClaim::claimId).collect(Collectors.toSet());
        measure("find 1,000 claims by their ids", () -> requireSize(MANY, parked.findAll(ids)));
        Filter none = new Filter(null, "shop.NoError", null, null);
        measure("find that no key has a class of error", () -> requireSize(0, parked.listMatching(none, PAGE)));
        measure("count by scope", () -> requireSize(2, List.copyOf(parked.count())));
        List<ClaimId> claims = new ArrayList<>();
        all.forEach(claim -> claims.add(new ClaimId(new ClaimKey(claim.scope(), claim.key()), claim.claimId())));
        int[] decided = {0};
        double decision = measure("release 1,000 keys", PARKED / MANY / 2, () -> {
            int from = MANY * decided[0]++;
            requireSize(MANY, List.copyOf(parked.releaseAll(claims.subList(from, from + MANY))));
        });
        measure("complete 1,000 keys", PARKED / MANY / 2, () -> {
            int from = MANY * decided[0]++;
            requireSize(
                    MANY,
                    List.copyOf(parked.completeAll(claims.subList(from, from + MANY).stream()
                            .map(claim -> new Completed(claim, null))
                            .toList())));
        });
        findings.table("Operators, %,d keys parked".formatted(PARKED), rows.toString());
        findings.note("Plan of the list:\n\n```\n%s\n```".formatted(plan));
        findings.figure("g_parked_list_ms", list);
        findings.figure("g_parked_release_1000_ms", decision);
    }

    private double measure(String name, Operation operation) throws SQLException {
        return measure(name, REPEATS, operation);
    }

    private double measure(String name, int repeats, Operation operation) throws SQLException {
        double[] millis = new double[repeats];
        statements = 0;
        for (int i = 0; i < repeats; i++) {
            long began = System.nanoTime();
            operation.run();
            millis[i] = Duration.ofNanos(System.nanoTime() - began).toNanos() / 1e6;
        }
        Arrays.sort(millis);
        rows.append("| %s | %d | %.1f | %.1f | %.1f |%n"
                .formatted(name, repeats, millis[repeats / 2], millis[repeats - 1], (double) statements / repeats));
        return millis[repeats / 2];
    }

    private static void requireSize(int size, List<?> found) {
        if (found.size() != size) {
            throw new IllegalStateException("Found %d instead of %d".formatted(found.size(), size));
        }
    }

    /** Explains the statement of the latest list. The settings before that statement are left out. */
    private String plan() throws SQLException {
        String[] statements = latest.split(";\\s*", 2);
        try (Connection connection = connections.getConnection();
                PreparedStatement explain =
                        connection.prepareStatement(statements[0] + "; EXPLAIN (ANALYZE, BUFFERS) " + statements[1])) {
            explain.setLong(1, 0);
            explain.setLong(2, 0);
            explain.setString(3, "");
            explain.setString(4, "");
            explain.setInt(5, PAGE);
            explain.execute();
            explain.getMoreResults();
            List<String> lines = new ArrayList<>();
            ResultSet line = explain.getResultSet();
            while (line.next()) {
                lines.add(line.getString(1));
            }
            return String.join("\n", lines);
        }
    }

    private DataSource noting(DataSource target) {
        return new DelegatingDataSource(target) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                return (Connection) Proxy.newProxyInstance(
                        Connection.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, given) -> {
                            if (method.getName().equals("prepareStatement")) {
                                statements++;
                                latest = (String) given[0];
                            }
                            try {
                                return method.invoke(connection, given);
                            } catch (InvocationTargetException failure) {
                                throw failure.getCause();
                            }
                        });
            }
        };
    }
}
