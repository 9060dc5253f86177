package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.EnableAsync;

/** Retries, limits and second proxies around handlers. One receive has one claim and one effect. */
@UsesSqs
class AdviceIT {

    private static final int WINDOW_SECONDS = 2;
    private static final SqsServer SQS = SqsServer.shared();

    /** Records the calls that the handlers received. */
    private static final List<String> CALLS = new CopyOnWriteArrayList<>();

    abstract static class Shop {
        private final JdbcClient jdbc;

        Shop(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        void sell(String order) {
            jdbc.sql("INSERT INTO sale VALUES (?)").param(order).update();
        }
    }

    /** A listener whose first two calls fail after their writes. */
    static class Transactions extends Shop {
        Transactions(JdbcClient jdbc) {
            super(jdbc);
        }

        @Retryable(maxRetries = 2, delay = 1)
        @ConcurrencyLimit(1)
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        public void handle(String order, Claim claim, @Header("Sqs_Msa_ApproximateReceiveCount") String receives) {
            claim.fence();
            sell(order);
            CALLS.add("%s, attempt %d, receive %s".formatted(order, claim.attempt(), receives));
            if (CALLS.size() <= 2) {
                throw new IllegalStateException("the printer is out of paper");
            }
        }
    }

    /** A listener whose first call fails for one of its messages. */
    static class Batches extends Shop {
        Batches(JdbcClient jdbc) {
            super(jdbc);
        }

        @Retryable(maxRetries = 2, delay = 1)
        @ConcurrencyLimit(1)
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#payload", effects = Effects.DATABASE)
        public BatchResult handle(List<String> orders, List<Claim> claims) {
            assertThat(claims).extracting(Claim::key).isEqualTo(orders);
            boolean isFirst = CALLS.isEmpty();
            orders.forEach(this::sell);
            CALLS.add(String.join(" ", orders));
            return isFirst
                    ? BatchResult.failed(0, new IllegalStateException("the carrier does not answer"))
                    : BatchResult.allSucceeded();
        }
    }

    /**
     * A listener whose retry starts after the initial visibility timeout and lease would have expired. Both are
     * renewed.
     */
    static class Patient {
        @Retryable(maxRetries = 2, delay = 3 * WINDOW_SECONDS * 1000)
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order")
        public void handle(String order, Claim claim) {
            claim.ensureHeld();
            CALLS.add("%s, attempt %d, in doubt %s".formatted(order, claim.attempt(), claim.isInDoubt()));
            if (CALLS.size() == 1) {
                throw new IllegalStateException("the carrier does not answer");
            }
        }
    }

    /** A listener whose first attempt is retried until the timeout ends it. */
    static class Hanging {
        private final CountDownLatch never = new CountDownLatch(1);

        @Retryable(maxRetries = 5, delay = 1)
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order", timeout = "1s")
        public void handle(String order, Claim claim) throws InterruptedException {
            CALLS.add("%s, attempt %d, in doubt %s".formatted(order, claim.attempt(), claim.isInDoubt()));
            if (CALLS.size() == 1) {
                throw new IllegalStateException("the carrier does not answer");
            }
            if (CALLS.size() == 2) {
                never.await();
            }
        }
    }

    @EnableResilientMethods
    @Configuration(proxyBeanMethods = false)
    static class Advice {

        /** A second proxy creator, like that of Shiro and JavaMelody. */
        @Bean
        static DefaultAdvisorAutoProxyCreator anotherProxyCreator() {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setProxyTargetClass(true);
            return creator;
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {}

    static class Background {
        @InBackground
        @ExactlyOnceListener(id = "sales", queueNames = "${test.queue}", key = "#order")
        public void handle(String order) {
            CALLS.add(order);
        }
    }

    @EnableAsync(annotation = InBackground.class)
    @Configuration(proxyBeanMethods = false)
    static class Asynchronous {}

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    @BeforeEach
    void forget() {
        CALLS.clear();
    }

    private TestApplication start(Map<String, String> properties, Class<?>... beans) {
        String database = EmbeddedDatabase.shared().createDatabase();
        JdbcClient.create(EmbeddedDatabase.shared().dataSource(database))
                .sql("CREATE TABLE sale (order_id text)")
                .update();
        Map<String, String> all = new HashMap<>(properties);
        all.put("test.queue", queue);
        return TestApplication.start(database, all, beans);
    }

    /** Spring runs the advice for these annotations outside of the claim's transaction. */
    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void retriesLimitsAndFurtherProxiesOfADatabaseHandler(String auto) {
        try (TestApplication application = start(Map.of("spring.aop.auto", auto), Transactions.class, Advice.class)) {
            SQS.send(queue, "o1");
            SQS.awaitEmpty(queue);
            SQS.send(queue, "o1");
            SQS.awaitEmpty(queue);

            assertThat(CALLS)
                    .containsExactly(
                            "o1, attempt 1, receive 1", "o1, attempt 1, receive 1", "o1, attempt 1, receive 1");
            assertThat(application.texts("SELECT order_id FROM sale")).containsExactly("o1");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
    }

    @Test
    void retriesOfADatabaseHandlerOfBatches() {
        List.of("o1", "o2", "o3").forEach(order -> SQS.send(queue, order));
        try (TestApplication application = start(Map.of(), Batches.class, Advice.class)) {
            SQS.awaitEmpty(queue);

            assertThat(application.texts("SELECT order_id FROM sale")).containsExactlyInAnyOrder("o1", "o2", "o3");
            assertThat(application.claims("COMPLETED")).isEqualTo(3);
            String failed = CALLS.get(0).substring(0, 2);
            assertThat(CALLS).filteredOn(call -> call.contains(failed)).hasSize(2);
        }
    }

    @Test
    void retryThatPausesForLongerThanTheLeaseKeepsItsClaimAndItsReceive() {
        try (TestApplication application = start(Map.of(), Patient.class, Advice.class)) {
            SQS.send(queue, "o1");
            SQS.awaitEmpty(queue);

            assertThat(CALLS).containsExactly("o1, attempt 1, in doubt false", "o1, attempt 1, in doubt false");
            assertThat(application.outcomes("acquired")).isEqualTo(1);
            assertThat(application.renewals("lease", "succeeded")).isPositive();
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
    }

    @Test
    void retryThatReachesItsTimeoutIsTheLastOfItsReceive() {
        try (TestApplication application = start(Map.of(), Hanging.class, Advice.class)) {
            SQS.send(queue, "o1");
            SQS.awaitEmpty(queue);

            assertThat(CALLS)
                    .containsExactly(
                            "o1, attempt 1, in doubt false",
                            "o1, attempt 1, in doubt false",
                            "o1, attempt 2, in doubt true");
            assertThat(application.count("exactly.once.handler.timeouts", "listener", "sales"))
                    .isEqualTo(1);
        }
    }

    @Test
    void asynchronousAnnotationOfTheApplicationsOwnFailsStartup() {
        assertThatThrownBy(() ->
                        start(Map.of(), Background.class, Asynchronous.class).close())
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("AdviceIT$Background.handle")
                .hasMessageContaining("runs it on another thread and does not wait for it")
                .hasMessageContaining("return a CompletableFuture of the work");
    }
}
