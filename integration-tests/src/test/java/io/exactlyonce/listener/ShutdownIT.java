package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.MessageExecutionThreadFactory;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.exactlyonce.testing.WorkerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * A worker's JVM gets a SIGTERM under load. Another consumer of its queues measures when the remaining messages become
 * visible.
 */
@UsesSqs
class ShutdownIT {

    private static final Logger log = LoggerFactory.getLogger(ShutdownIT.class);
    private static final SqsServer SQS = SqsServer.shared();

    private static final int ORDERS = 30;
    private static final int THREADS = 2;

    /** Longer than the test, so a message is received again only if it was returned. */
    private static final int LONG_WINDOW_SECONDS = 300;

    private static final int SHORT_WINDOW_SECONDS = 4;

    /**
     * The listener's timeout, which is Spring Cloud AWS's default. The timeout of acknowledgements would be added to
     * it.
     */
    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(20);

    private static final Duration START = Duration.ofMinutes(4);

    /**
     * The promise is 2 s on an idle machine. This limit suits a busy one, and is still shorter than the handlers run.
     */
    private static final Duration VISIBLE_WITHIN = Duration.ofSeconds(10);

    @EnableAutoConfiguration
    static class Worker {
        private static final long WORK_MILLIS = 1_000;

        private final JdbcClient jdbc;
        private final boolean dies;

        Worker(JdbcClient jdbc, @Value("${test.dies}") boolean dies) {
            this.jdbc = jdbc;
            this.dies = dies;
        }

        /** Receives many more messages than it has threads for. */
        @Bean
        static ExactlyOnceContainerFactory fewThreads(
                ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            ThreadPoolTaskExecutor threads = new ThreadPoolTaskExecutor();
            threads.setCorePoolSize(THREADS);
            threads.setThreadFactory(new MessageExecutionThreadFactory("few-"));
            threads.initialize();
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options -> options.componentsTaskExecutor(threads)
                            .maxConcurrentMessages(ORDERS)
                            .pollTimeout(Duration.ofSeconds(1)))
                    .build());
        }

        @Bean
        static ExactlyOnceContainerFactory impatient(
                ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options ->
                            options.pollTimeout(Duration.ofSeconds(1)).listenerShutdownTimeout(Duration.ofSeconds(2)))
                    .build());
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.orders}", key = "#order", factory = "fewThreads")
        void order(String order, Claim claim) throws InterruptedException {
            work(order, claim);
        }

        @ExactlyOnceListener(id = "steps", queueNames = "${test.steps}", key = "#step")
        void step(String step, Claim claim) throws InterruptedException {
            work(step, claim);
        }

        /** The handler ignores its interrupt. */
        @ExactlyOnceListener(id = "stubborn", queueNames = "${test.stubborn}", key = "#order", factory = "impatient")
        void stubborn(String order, Claim claim) {
            note(order, claim, "started");
            while (dies) {
                LockSupport.park();
                Thread.interrupted();
            }
            note(order, claim, "ended");
        }

        /** Starts before the worker gets its SIGTERM, and ends long after that. */
        private void work(String name, Claim claim) throws InterruptedException {
            note(name, claim, "started");
            do {
                new CountDownLatch(1).await(100, TimeUnit.MILLISECONDS);
            } while (jdbc.sql("SELECT count(*) FROM note WHERE event = 'go'")
                            .query(Integer.class)
                            .single()
                    == 0);
            new CountDownLatch(1).await(WORK_MILLIS, TimeUnit.MILLISECONDS);
            note(name, claim, "ended");
        }

        private void note(String name, Claim claim, String event) {
            jdbc.sql("INSERT INTO note VALUES (?, ?, ?)")
                    .params(name, event, claim.isInDoubt())
                    .update();
        }

        /** The child's main method. */
        public static void main(String[] arguments) {
            SpringApplication.run(Worker.class, arguments);
        }
    }

    private final String orders = SQS.createQueue(LONG_WINDOW_SECONDS);
    private final String steps = SQS.createFifoQueue(LONG_WINDOW_SECONDS, 10);
    private final String stubborn = SQS.createQueue(SHORT_WINDOW_SECONDS);
    private final String database = EmbeddedDatabase.shared().createDatabase();
    private final JdbcClient notes = JdbcClient.create(EmbeddedDatabase.shared().dataSource(database));
    private final List<String> seen = new ArrayList<>();
    private final List<Message> taken = new ArrayList<>();

    private Map<String, String> properties(boolean dies) {
        return Map.of(
                "test.orders", orders,
                "test.steps", steps,
                "test.stubborn", stubborn,
                "test.dies", String.valueOf(dies),
                "spring.main.web-application-type", "none");
    }

    private List<String> noted(String event, String prefix) {
        return notes.sql("SELECT name FROM note WHERE event = ? AND name LIKE ? ORDER BY name")
                .params(event, prefix + "%")
                .query(String.class)
                .list();
    }

    /** Receives the messages that a queue currently has for another consumer. */
    private void take(String queue) {
        String url = SQS.urlOf(queue);
        List<Message> messages;
        do {
            messages = SQS.client()
                    .receiveMessage(request -> request.queueUrl(url).maxNumberOfMessages(10))
                    .messages();
            messages.forEach(message -> seen.add(message.body()));
            taken.addAll(messages);
        } while (!messages.isEmpty());
    }

    private void deleteTaken(String queue) {
        String url = SQS.urlOf(queue);
        taken.forEach(message ->
                SQS.client().deleteMessage(request -> request.queueUrl(url).receiptHandle(message.receiptHandle())));
        taken.clear();
    }

    private List<String> seen(String prefix) {
        return seen.stream().filter(body -> body.startsWith(prefix)).toList();
    }

    @Test
    void everythingThatHasNotStartedIsSoonAnothersAndWhatHasStartedEndsOnce(@TempDir Path directory) throws Exception {
        notes.sql("CREATE TABLE note (name text, event text, in_doubt boolean)").update();
        IntStream.range(0, ORDERS).forEach(number -> SQS.send(orders, "order-" + number));
        IntStream.rangeClosed(1, 5)
                .forEach(number -> SQS.send(steps, "group", UUID.randomUUID().toString(), "step-" + number));
        SQS.send(stubborn, "stubborn");

        String[] arguments = TestApplication.arguments(database, properties(true));
        try (WorkerProcess worker = WorkerProcess.start(Worker.class, directory, arguments)) {
            await().atMost(START)
                    .until(() -> SQS.visible(orders) == 0
                            && noted("started", "order").size() == THREADS
                            && noted("started", "st").size() == 2);

            worker.terminate();
            long terminated = System.nanoTime();
            await().pollInterval(Duration.ofMillis(50)).atMost(VISIBLE_WITHIN).until(() -> {
                take(orders);
                return seen("order").size() == ORDERS - THREADS;
            });
            log.info("After {} all {} orders were visible", since(terminated), ORDERS - THREADS);
            assertThat(worker.isAlive()).as("handlers are still at work").isTrue();
            notes.sql("INSERT INTO note VALUES ('all', 'go', false)").update();
            await().atMost(SHUTDOWN_TIMEOUT).until(() -> !worker.isAlive());
        }

        assertThat(noted("started", "order"))
                .as("nothing begins after the signal")
                .hasSize(THREADS)
                .doesNotContainAnyElementsOf(seen);
        assertThat(noted("ended", "order")).isEqualTo(noted("started", "order"));
        deleteTaken(orders);
        assertThat(SQS.size(orders)).as("no delete was lost").isZero();

        assertThat(noted("ended", "step")).containsExactly("step-1");
        await().atMost(START).until(() -> {
            take(steps);
            deleteTaken(steps);
            return SQS.size(steps) == 0;
        });
        assertThat(seen("step")).containsExactly("step-2", "step-3", "step-4", "step-5");

        try (TestApplication successor = TestApplication.start(database, properties(false), Worker.class)) {
            await().atMost(START).until(() -> noted("ended", "stubborn").size() == 1);
            await().until(() -> successor.claims("HELD") == 0);
        }
        assertThat(notes.sql("SELECT in_doubt FROM note WHERE name = 'stubborn' AND event = 'ended'")
                        .query(Boolean.class)
                        .single())
                .isTrue();
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }
}
