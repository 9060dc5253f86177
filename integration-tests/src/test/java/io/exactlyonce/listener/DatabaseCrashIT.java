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
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A worker's JVM is killed at each step of a transaction. All effects of the transaction happen or none, and in the
 * end once.
 */
@UsesSqs
class DatabaseCrashIT {

    private static final SqsServer SQS = SqsServer.shared();

    /** The step that the worker has just taken when it is killed. */
    enum Step {
        CLAIM,
        WRITE,
        COMPLETION,
        COMMIT,
        NEVER
    }

    /** Stops the worker at its step, and notifies the test, which then kills it. */
    static final class Steps {
        private final Step last;
        private final Path report;

        Steps(Step last, Path report) {
            this.last = last;
            this.report = report;
        }

        boolean isLast(Step step) {
            return step == last;
        }

        void done(Step step) {
            if (!isLast(step)) {
                return;
            }
            try {
                Files.createFile(report);
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
                    ResultSet sold = statement.executeQuery("SELECT EXISTS (SELECT FROM sale)")) {
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
        static Steps steps(@Value("${test.step}") Step step, @Value("${test.report}") Path report) {
            return new Steps(step, report);
        }

        @Bean
        static BeanPostProcessor stepping(Environment environment) {
            Steps steps = new Steps(
                    environment.getRequiredProperty("test.step", Step.class),
                    Path.of(environment.getRequiredProperty("test.report")));
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return name.equals("dataSource") ? new SteppingDataSource((DataSource) bean, steps) : bean;
                }
            };
        }

        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        String handle(String order) {
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

    @ParameterizedTest
    @EnumSource(names = {"CLAIM", "WRITE", "COMPLETION", "COMMIT"})
    void killedWorkerLeavesAllOrNothingAndTheNextOneFinishes(Step step, @TempDir Path directory) throws Exception {
        String queue = SQS.createQueue(2);
        String database = EmbeddedDatabase.shared().createDatabase();
        JdbcClient jdbc = JdbcClient.create(EmbeddedDatabase.shared().dataSource(database));
        jdbc.sql("CREATE TABLE sale (order_id text)").update();
        assertThat(jdbc.sql("SHOW fsync").query(String.class).single()).isEqualTo("on");
        SQS.send(queue, "o1");

        Path report = directory.resolve("report");
        String[] arguments = TestApplication.arguments(database, properties(queue, report, step));
        try (WorkerProcess worker = WorkerProcess.start(Worker.class, directory, arguments)) {
            await().atMost(Duration.ofMinutes(4))
                    .failFast(() -> assertThat(worker.isAlive())
                            .as(Files.readString(directory.resolve("worker.log")))
                            .isTrue())
                    .until(() -> Files.exists(report));
            assertThat(worker.isAlive()).isTrue();
        }

        int expected = step == Step.COMMIT ? 1 : 0;
        assertThat(count(jdbc, "sale")).isEqualTo(expected);
        assertThat(count(jdbc, "exactly_once_claim WHERE status = 'COMPLETED'")).isEqualTo(expected);
        assertThat(count(jdbc, "exactly_once_claim WHERE status <> 'COMPLETED'"))
                .isZero();

        try (TestApplication application =
                TestApplication.start(database, properties(queue, report, Step.NEVER), Worker.class)) {
            await().atMost(Duration.ofMinutes(2)).until(() -> SQS.size(queue) == 0);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
        assertThat(count(jdbc, "sale")).isEqualTo(1);
    }

    private static int count(JdbcClient jdbc, String rows) {
        return jdbc.sql("SELECT count(*) FROM " + rows).query(Integer.class).single();
    }

    private static Map<String, String> properties(String queue, Path report, Step step) {
        return Map.of(
                "test.queue",
                queue,
                "test.report",
                report.toString(),
                "test.step",
                step.name(),
                "spring.main.web-application-type",
                "none");
    }
}
