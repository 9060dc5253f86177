package io.exactlyonce.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceDataSource;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The claim table refuses rows, and PostgreSQL quotes a refused row, with its key, behind the first line of its message. The pools are
 * the application's own, whose driver passes that on. No log has the key.
 */
@UsesSqs
class KeysInLogsIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String KEY = "card-4711";
    private static final DataSource SALES = sales();

    static class Refused extends RuntimeException {
        Refused() {
            super("as if");
        }
    }

    static class Listeners {

        private final CountDownLatch held = new CountDownLatch(2);
        private final CompletableFuture<Void> gate = new CompletableFuture<>();

        @ExactlyOnceListener(id = "slow", queueNames = "${test.slow}", key = "#order")
        void handleSlowly(String order) {
            held.countDown();
            gate.join();
        }

        @ExactlyOnceListener(
                id = "sales",
                queueNames = "${test.sales}",
                key = "#sale",
                effects = Effects.DATABASE,
                parkFor = Refused.class)
        void sell(String sale) {
            if (sale.endsWith("parked")) {
                throw new Refused();
            }
        }

        @ExactlyOnceListener(id = "quick", queueNames = "${test.quick}", key = "#order")
        void handleQuickly(String order) {}

        /** The listener is behind a proxy. */
        long missing() {
            return held.getCount();
        }

        void open() {
            gate.complete(null);
        }

        void call(ExactlyOnceOperations operations) {
            operations.once("calls", KEY + "-call").run(claim -> {
                held.countDown();
                gate.join();
                throw new Refused();
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPool {

        @Bean(defaultCandidate = false)
        @ExactlyOnceDataSource
        HikariDataSource claims(DataSourceProperties application) {
            return application
                    .initializeDataSourceBuilder()
                    .type(HikariDataSource.class)
                    .build();
        }
    }

    @Test
    void rowThatPostgresRefusesIsQuotedInNoLog() {
        String slow = SQS.createQueue(4);
        String sales = SQS.createQueue(4);
        String quick = SQS.createQueue(4);
        Map<String, String> properties = Map.of(
                "test.slow", slow, "test.sales", sales, "test.quick", quick, "logging.level.io.exactlyonce", "DEBUG");
        try (TestApplication application = TestApplication.start(
                        EmbeddedDatabase.shared().createDatabase(), properties, Listeners.class, OwnPool.class);
                CapturedLog log = new CapturedLog()) {
            Listeners listeners = application.bean(Listeners.class);
            SQS.send(slow, KEY);
            CompletableFuture<Void> call =
                    CompletableFuture.runAsync(() -> listeners.call(application.bean(ExactlyOnceOperations.class)));
            await().atMost(SOON).until(() -> listeners.missing() == 0);
            JdbcTemplate jdbc = new JdbcTemplate(application.bean(DataSource.class));
            jdbc.execute("ALTER TABLE exactly_once_claim ADD CONSTRAINT shut CHECK (key NOT LIKE 'card-%') NOT VALID");

            awaitLine(log, "leases failed; renewals are retried");
            listeners.open();
            awaitLine(log, "Recording the outcome of");
            assertThat(call).failsWithin(SOON);
            awaitLine(log, "can be claimed again when its lease ends");
            SQS.send(sales, KEY + "-sold");
            awaitLine(log, "refuses the row of its completion (SQLSTATE 23514)");
            SQS.send(sales, KEY + "-parked");
            awaitLine(log, "its handler will be called again");
            SQS.send(quick, KEY + "-quick");
            awaitLine(log, "Claiming");

            assertThat(log.text())
                    .contains("violates check constraint \"shut\"")
                    .doesNotContain(KEY, "Failing row");
            jdbc.execute("ALTER TABLE exactly_once_claim DROP CONSTRAINT shut");
            SQS.awaitEmpty(slow);
        }
    }

    /** Statements of handlers, with a value of a message. PostgreSQL quotes it in the first line, except where it names a constraint. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "22P02# SELECT ?::text::integer",
                "22P02# SELECT ?::text::uuid",
                "22P02# SELECT ?::text::json",
                "22P02# SELECT ?::text::inet",
                "22007# SELECT ?::text::timestamptz",
                "22023# SELECT now() AT TIME ZONE ?::text",
                "22023# SELECT date_trunc(?::text, now())",
                "22023# SELECT encode('', ?::text)",
                "42601# SELECT ?::text::jsonpath",
                "42601# SELECT to_tsquery('(' || ?::text)",
                "P0001# SELECT refuse(?::text)",
                "22001# INSERT INTO sale (short) VALUES (?::text)",
                "23505# INSERT INTO sale (name) SELECT ?::text FROM generate_series(1, 2)",
                "23514# INSERT INTO sale (fit) VALUES (?::text)",
                "23503# INSERT INTO sale (parent) VALUES (?::text)",
                "23P01# INSERT INTO sale (apart) SELECT ?::text FROM generate_series(1, 2)",
            })
    void valueThatPostgresQuotesIsNotPrinted(String state, String statement) {
        JdbcTemplate jdbc = new JdbcTemplate(SALES);

        Exception refused = catchThrowableOfType(
                DataAccessException.class,
                () -> jdbc.execute(statement, (PreparedStatement prepared) -> {
                    prepared.setString(1, KEY);
                    return prepared.execute();
                }));

        StringWriter printed = new StringWriter();
        PrintableException.of(refused).printStackTrace(new PrintWriter(printed, true));
        assertThat(((SQLException) refused.getCause()).getSQLState()).isEqualTo(state);
        assertThat(printed.toString()).doesNotContain("4711");
        assertThat(PrintableException.reason(refused)).doesNotContain("4711");
        if (state.startsWith("23")) {
            assertThat(printed.toString()).contains("constraint \"sale_");
        } else {
            assertThat(printed.toString()).contains("PSQLException: SQLSTATE " + state);
        }
    }

    private static DataSource sales() {
        DataSource sales =
                EmbeddedDatabase.shared().dataSource(EmbeddedDatabase.shared().createDatabase());
        new JdbcTemplate(sales).execute("""
                CREATE TABLE sale (short varchar(3), name text CONSTRAINT sale_name UNIQUE,
                    fit text CONSTRAINT sale_fit CHECK (fit NOT LIKE 'card%'),
                    parent text CONSTRAINT sale_parent REFERENCES sale (name),
                    apart text, CONSTRAINT sale_apart EXCLUDE USING hash (apart WITH =));
                CREATE FUNCTION refuse(text) RETURNS integer LANGUAGE plpgsql AS
                    'BEGIN RAISE EXCEPTION ''no %'', $1; END'""");
        return sales;
    }

    private static void awaitLine(CapturedLog log, String text) {
        await(text).atMost(SOON).until(() -> log.text().contains(text));
    }
}
