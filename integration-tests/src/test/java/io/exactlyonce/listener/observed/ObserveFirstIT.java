package io.exactlyonce.listener.observed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.errorhandler.ErrorHandler;
import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.observed.ObservedCounts;
import io.exactlyonce.primary.ApplicationConnection;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.OtherDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.Message;

/** Observed listeners and plain listeners side by side, and the counts of the observed ones. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class ObserveFirstIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final EmbeddedDatabase DATABASE = EmbeddedDatabase.shared();

    /**
     * The arguments of a listener, an interceptor or an error handler, and its thread.
     *
     * @param headers their names and types
     */
    record Call(
            String who,
            Object payload,
            Map<String, String> headers,
            String thread,
            @Nullable String failure) {

        static Call of(String who, Message<?> message, @Nullable Throwable failure) {
            Map<String, String> headers = new TreeMap<>();
            message.getHeaders()
                    .forEach((name, value) -> headers.put(name, value.getClass().getName()));
            return new Call(
                    who,
                    message.getPayload(),
                    headers,
                    Thread.currentThread().getName().replaceAll("^(plain|observed)-\\d+$", "listener-N"),
                    failure == null ? null : failure.getClass().getName());
        }
    }

    /** Records the calls for each queue, in their order. */
    static class Journal implements MessageInterceptor<Object>, ErrorHandler<Object> {

        private final Map<String, List<Call>> calls = new ConcurrentHashMap<>();

        void add(String who, Message<?> message, @Nullable Throwable failure) {
            String queue = Objects.requireNonNull(message.getHeaders().get("Sqs_QueueName", String.class));
            calls.computeIfAbsent(queue, added -> new CopyOnWriteArrayList<>()).add(Call.of(who, message, failure));
        }

        List<Call> of(String queue) {
            return calls.getOrDefault(queue, List.of());
        }

        long handled(String queue) {
            return count(queue, "handler");
        }

        long ended(String queue) {
            return count(queue, "after");
        }

        private long count(String queue, String who) {
            return of(queue).stream().filter(call -> call.who().equals(who)).count();
        }

        @Override
        public Message<Object> intercept(Message<Object> message) {
            add("before", message, null);
            return message;
        }

        @Override
        public void afterProcessing(Message<Object> message, @Nullable Throwable failure) {
            add("after", message, failure);
        }

        /** Hides every failure that it may hide. */
        @Override
        public void handle(Message<Object> message, Throwable failure) {
            add("error handler", message, failure);
            if (!message.getPayload().equals("recovers")) {
                throw new IllegalStateException(failure);
            }
        }
    }

    /** The same handler twice. */
    static class Listeners {

        private final Journal journal;
        private final Map<String, AtomicInteger> failures = new ConcurrentHashMap<>();

        Listeners(Journal journal) {
            this.journal = journal;
        }

        @SqsListener(id = "plain", queueNames = "${test.plain}", maxConcurrentMessages = "1", maxMessagesPerPoll = "1")
        void plain(Message<String> message) {
            handle("plain", message);
        }

        @ExactlyOnceListener(
                id = "observed",
                queueNames = "${test.queue}",
                key = "#message.payload.substring(0, 8)",
                maxConcurrentMessages = "1",
                maxMessagesPerPoll = "1")
        void observed(Message<String> message) {
            handle("observed", message);
        }

        private void handle(String listener, Message<String> message) {
            journal.add("handler", message, null);
            boolean fails = message.getPayload().equals("recovers")
                    || message.getPayload().equals("comes again");
            if (fails
                    && failures.computeIfAbsent(listener + message.getPayload(), added -> new AtomicInteger())
                                    .getAndIncrement()
                            == 0) {
                throw new IllegalStateException("fails at first");
            }
        }
    }

    /** Longer than Spring Cloud AWS buffers acknowledgements. */
    private final String plain = SQS.createQueue(3);

    private final String queue = SQS.createQueue(3);
    private final String database = DATABASE.createDatabase();

    private TestApplication observing(Class<?>... listeners) {
        return observing(database, listeners);
    }

    private TestApplication observing(String url, Class<?>... listeners) {
        return TestApplication.start(
                url,
                Map.of(
                        "test.plain",
                        plain,
                        "test.queue",
                        queue,
                        "exactly-once.mode",
                        "observe",
                        "exactly-once.datasource.connection-timeout",
                        "1s"),
                listeners);
    }

    private static double observed(TestApplication application, String outcome) {
        return application.count("exactly.once.observed", "listener", "observed", "outcome", outcome);
    }

    private static double unobserved(TestApplication application, String reason) {
        return application.count("exactly.once.unobserved", "listener", "observed", "reason", reason);
    }

    /** Sends messages one after the other, so that both queues deliver them in the same order. */
    private void sendToBoth(TestApplication application, String payload, int handled) {
        SQS.send(plain, payload);
        SQS.send(queue, payload);
        Journal journal = application.bean(Journal.class);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> journal.ended(plain) == handled && journal.ended(queue) == handled);
    }

    private void assertBothSawTheSame(TestApplication application, int handled) {
        Journal journal = application.bean(Journal.class);
        await().atMost(Duration.ofSeconds(20)).until(() -> SQS.size(plain) + SQS.size(queue) == 0);
        assertThat(journal.of(queue)).isEqualTo(journal.of(plain));
        assertThat(journal.handled(queue)).isEqualTo(handled);
    }

    private static int warnings(CapturedOutput output) {
        return (int) output.getAll()
                .lines()
                .filter(line -> line.contains(" WARN ") && line.contains("The claim store does not answer"))
                .count();
    }

    @Test
    void observedListenerSeesWhatAPlainOneSeesWithTheDatabaseAndWithout(CapturedOutput output) {
        try (TestApplication application = observing(Journal.class, Listeners.class)) {
            await().until(application.bean(ClaimDatabase.class)::isReady);
            sendToBoth(application, "order-01", 1);
            sendToBoth(application, "order-01", 2);
            sendToBoth(application, "recovers", 3);
            sendToBoth(application, "comes again", 5);
            sendToBoth(application, "short", 6);
            sendToBoth(application, "order-02", 7);
            assertBothSawTheSame(application, 7);
            await().untilAsserted(() -> {
                assertThat(observed(application, "duplicate")).isEqualTo(1);
                assertThat(observed(application, "alone")).isEqualTo(5);
                assertThat(unobserved(application, "key")).isEqualTo(1);
                assertThat(application.claims("COMPLETED")).isEqualTo(3);
                // A failure that the error handler swallowed still counts as a failure.
                assertThat(application.claims("RELEASED")).isEqualTo(1);
            });

            DATABASE.disconnect(database);
            sendToBoth(application, "order-03", 8);
            sendToBoth(application, "order-03", 9);
            sendToBoth(application, "order-04", 10);
            assertBothSawTheSame(application, 10);
            await().atMost(Duration.ofSeconds(60)).until(() -> unobserved(application, "store") >= 1);
            DATABASE.reconnect(database);

            assertThat(warnings(output)).isOne();
            assertThat(AopUtils.isAopProxy(application.bean(Listeners.class))).isFalse();
            assertThat(application.container("observed").getContainerComponentFactories())
                    .isEmpty();
            assertThat(application.bean(ObservedCounts.class).all().get(0).keys())
                    .hasSize(1);
        }
    }

    @Test
    void applicationStartsAndHandlesWithoutADatabase(CapturedOutput output) {
        String nowhere = "jdbc:postgresql://127.0.0.1:1/nowhere";
        try (TestApplication application = observing(nowhere, Journal.class, Listeners.class)) {
            sendToBoth(application, "order-01", 1);
            assertBothSawTheSame(application, 1);

            await().atMost(Duration.ofSeconds(60)).until(() -> unobserved(application, "store") == 1);
            assertThat(warnings(output)).isOne();
            assertThat(output).doesNotContain("No listener can start");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Elsewhere {
        @Bean
        DataSource elsewhere() {
            return new OtherDatabase();
        }
    }

    @Test
    void applicationStartsAndHandlesBesideADatabaseThatClaimsCannotUse(CapturedOutput output) {
        try (TestApplication application = observing(Journal.class, Listeners.class, Elsewhere.class)) {
            sendToBoth(application, "order-01", 1);
            assertBothSawTheSame(application, 1);

            await().atMost(Duration.ofSeconds(60)).until(() -> unobserved(application, "store") == 1);
            assertThat(warnings(output)).isOne();
            assertThat(output).contains("DataSource 'elsewhere'", ApplicationConnection.REMEDY);
        }
    }

    static class Enforced {
        private final AtomicInteger calls = new AtomicInteger();

        @ExactlyOnceListener(id = "enforced", queueNames = "${test.queue}", key = "#message.payload.substring(0, 8)")
        void handle(Message<String> message) {
            calls.incrementAndGet();
        }

        int calls() {
            return calls.get();
        }
    }

    @Test
    void onePropertyTurnsItOnAndWhatWasObservedAsCompletedIsHonoured() {
        try (TestApplication application = observing(Journal.class, Listeners.class)) {
            await().until(application.bean(ClaimDatabase.class)::isReady);
            SQS.send(queue, "order-01");
            await().until(() -> application.claims("COMPLETED") == 1);
        }
        try (TestApplication application = TestApplication.start(
                database, Map.of("test.queue", queue, "exactly-once.mode", "enforce"), Enforced.class)) {
            SQS.send(queue, "order-01");
            SQS.send(queue, "order-02");
            await().until(() -> SQS.size(queue) == 0);

            assertThat(application.bean(Enforced.class).calls()).isEqualTo(1);
            assertThat(application.count("exactly.once.claims", "outcome", "already_completed"))
                    .isEqualTo(1);
        }
    }

    @ExactlyOnceListener(
            id = "observed",
            queueNames = "${test.queue}",
            key = "#payload.toString()",
            mode = ClaimMode.OBSERVE)
    static class OfAClass {
        private final List<String> handled = new CopyOnWriteArrayList<>();

        @SqsHandler(isDefault = true)
        void handle(String order) {
            handled.add(order);
        }
    }

    @Test
    void handlersOfAClassAreObservedToo() {
        try (TestApplication application =
                TestApplication.start(database, Map.of("test.queue", queue), OfAClass.class)) {
            await().until(application.bean(ClaimDatabase.class)::isReady);
            SQS.send(queue, "order-01");
            SQS.send(queue, "order-01");

            await().until(() -> SQS.size(queue) == 0);
            assertThat(application.bean(OfAClass.class).handled).containsExactly("order-01", "order-01");
            await().until(() -> observed(application, "alone") == 1
                    && observed(application, "duplicate") + observed(application, "overlap") == 1);
        }
    }
}
