package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.exactlyonce.testing.WorkerProcess;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A worker's JVM is killed when its transactions have stopped, one at each step. All effects of each transaction happen
 * or none, and in the end once.
 */
@UsesSqs
class DatabaseCrashIT {

    private static final SqsServer SQS = SqsServer.shared();

    /** The step that an order's transaction has just taken when its worker is killed; the order has the step's name. */
    enum Step {
        CLAIM,
        WRITE,
        COMPLETION,
        COMMIT
    }

    /** Stops each order of a worker at its step, and notifies the test, which then kills the worker. */
    static final class Steps {
        private final boolean stopping;
        private final Path reports;

        /** The order whose handler this thread has called. */
        private final ThreadLocal<String> orders = new ThreadLocal<>();

        Steps(boolean stopping, Path reports) {
            this.stopping = stopping;
            this.reports = reports;
        }

        void begin(String order) {
            orders.set(order);
        }

        boolean isLast(Step step) {
            return stopping && step.name().equals(orders.get());
        }

        void done(Step step) {
            if (!isLast(step)) {
                return;
            }
            try {
                Files.createFile(reports.resolve(step.name()));
                new CountDownLatch(1).await();
            } catch (IOException | InterruptedException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    /** Connections of the application's that notice how far its transactions have come. */
    static final class SteppingDataSource extends DelegatingDataSource {
        private final Steps steps;

        SteppingDataSource(DataSource target, Steps steps) {
            super(target);
            this.steps = steps;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        before(method.getName());
                        Object answer;
                        try {
                            answer = method.invoke(connection, arguments);
                        } catch (InvocationTargetException failure) {
                            throw failure.getCause();
                        }
                        if (method.getName().equals("commit") && steps.isLast(Step.COMMIT) && isSold(connection)) {
                            steps.done(Step.COMMIT);
                        }
                        return answer;
                    });
        }

        /** A redelivery whose key is held commits a transaction that has written nothing. */
        private static boolean isSold(Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet sold = statement.executeQuery(
                            "SELECT EXISTS (SELECT FROM sale WHERE order_id = '%s')".formatted(Step.COMMIT))) {
                return sold.next() && sold.getBoolean(1);
            }
        }

        private void before(String method) {
            if (method.equals("commit")) {
                steps.done(Step.COMPLETION);
            }
        }
    }

    @EnableAutoConfiguration
    static class Worker {
        private final JdbcTemplate jdbc;
        private final Steps steps;

        Worker(JdbcTemplate jdbc, Steps steps) {
            this.jdbc = jdbc;
            this.steps = steps;
        }

        @Bean
        static Steps steps(@Value("${test.stopping}") boolean stopping, @Value("${test.reports}") Path reports) {
            return new Steps(stopping, reports);
        }

        @Bean
        static BeanPostProcessor stepping(ObjectProvider<Steps> steps) {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return name.equals("dataSource")
                            ? new SteppingDataSource((DataSource) bean, steps.getObject())
                            : bean;
                }
            };
        }

        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        String handle(String order) {
            steps.begin(order);
            steps.done(Step.CLAIM);
            jdbc.update("INSERT INTO sale VALUES (?)", order);
            steps.done(Step.WRITE);
            if (steps.isLast(Step.COMPLETION)) {
                // This synchronization makes the manager commit by itself. Without it, completion and commit share a
                // round trip, and nothing can happen between them.
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {});
            }
            return "sold";
        }

        /** The child's main method. */
        public static void main(String[] arguments) {
            SpringApplication.run(Worker.class, arguments);
        }
    }

    /** The orders of the sales and claims that the database has. */
    private record Rows(List<String> sold, List<String> completed, List<String> otherClaims) {

        static Rows of(JdbcClient jdbc) {
            return new Rows(
                    texts(jdbc, "SELECT order_id FROM sale"),
                    texts(jdbc, "SELECT key FROM exactly_once_claim WHERE status = 'COMPLETED'"),
                    texts(jdbc, "SELECT key FROM exactly_once_claim WHERE status <> 'COMPLETED'"));
        }

        private static List<String> texts(JdbcClient jdbc, String sql) {
            return jdbc.sql(sql).query(String.class).list();
        }
    }

    private static Rows afterTheKill;
    private static Rows inTheEnd;

    @BeforeAll
    static void killAWorkerAndStartTheNext(@TempDir Path directory) throws Exception {
        String queue = SQS.createQueue(2);
        String database = EmbeddedDatabase.shared().createDatabase();
        JdbcClient jdbc = JdbcClient.create(EmbeddedDatabase.shared().dataSource(database));
        jdbc.sql("CREATE TABLE sale (order_id text)").update();
        assertThat(jdbc.sql("SHOW fsync").query(String.class).single()).isEqualTo("on");
        for (Step step : Step.values()) {
            SQS.send(queue, step.name());
        }

        String[] arguments = TestApplication.arguments(database, properties(queue, directory, true));
        try (WorkerProcess worker = WorkerProcess.start(Worker.class, directory, arguments)) {
            for (Step step : Step.values()) {
                await().atMost(Duration.ofMinutes(4))
                        .failFast(() -> assertThat(worker.isAlive())
                                .as(Files.readString(directory.resolve("worker.log")))
                                .isTrue())
                        .until(() -> Files.exists(directory.resolve(step.name())));
            }
            assertThat(worker.isAlive()).isTrue();
        }
        afterTheKill = Rows.of(jdbc);

        try (TestApplication application =
                TestApplication.start(database, properties(queue, directory, false), Worker.class)) {
            await().atMost(Duration.ofMinutes(2)).until(() -> SQS.size(queue) == 0);
            assertThat(application.claims("COMPLETED")).isEqualTo(Step.values().length);
        }
        inTheEnd = Rows.of(jdbc);
    }

    @ParameterizedTest
    @EnumSource
    void killedWorkerLeavesAllOrNothingAndTheNextOneFinishes(Step step) {
        String order = step.name();
        int expected = step == Step.COMMIT ? 1 : 0;
        assertThat(Collections.frequency(afterTheKill.sold(), order)).isEqualTo(expected);
        assertThat(Collections.frequency(afterTheKill.completed(), order)).isEqualTo(expected);
        assertThat(afterTheKill.otherClaims()).isEmpty();

        assertThat(Collections.frequency(inTheEnd.completed(), order)).isEqualTo(1);
        assertThat(Collections.frequency(inTheEnd.sold(), order)).isEqualTo(1);
    }

    private static Map<String, String> properties(String queue, Path reports, boolean stopping) {
        return Map.of(
                "test.queue",
                queue,
                "test.reports",
                reports.toString(),
                "test.stopping",
                String.valueOf(stopping),
                "spring.main.web-application-type",
                "none");
    }
}
