package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.BatchResult;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.servers.ExactlyOnceServers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/** AspectJ's aspects around handlers that write to the database: no half of a call is committed, and none is lost. */
@Tag("ci")
class DatabaseAspectsIT {

    /** Counts the calls for each order. */
    static class Calls {
        private final Map<String, Integer> ofOrders = new ConcurrentHashMap<>();
        private final CountDownLatch limitIsOver = new CountDownLatch(1);
    }

    /** Each order's first call fails after the first of its two writes. */
    static class Shop {

        private final JdbcClient jdbc;
        private final Calls calls;

        Shop(JdbcClient jdbc, Calls calls) {
            this.jdbc = jdbc;
            this.calls = calls;
        }

        private int sell(String order) {
            int call = calls.ofOrders.merge(order, 1, Integer::sum);
            jdbc.sql("INSERT INTO sale VALUES (?, 'paid')").param(order).update();
            if (call > 1) {
                jdbc.sql("INSERT INTO sale VALUES (?, 'shipped')").param(order).update();
            }
            return call;
        }

        private void sellOrFail(String order) {
            if (sell(order) == 1) {
                throw new IllegalStateException("the carrier does not answer");
            }
        }

        @ExactlyOnceListener(queueNames = "repeated-inside", key = "#order", effects = Effects.DATABASE)
        void repeatedInside(String order) {
            sellOrFail(order);
        }

        @Transactional
        @ExactlyOnceListener(queueNames = "repeated-around-transactional", key = "#order", effects = Effects.DATABASE)
        void repeatedAroundTransactional(String order) {
            sellOrFail(order);
        }

        @ExactlyOnceListener(queueNames = "repeated-outside", key = "#order", effects = Effects.DATABASE)
        void repeatedOutside(String order) {
            sellOrFail(order);
        }

        @ExactlyOnceListener(queueNames = "observed", key = "#order", mode = ClaimMode.OBSERVE)
        void observedAndRepeated(String order) {
            sellOrFail(order);
        }

        /** The first call reaches its time limit before it ends, and its commit fails. */
        @Transactional
        @ExactlyOnceListener(queueNames = "limited", key = "#order")
        void limited(String order) throws InterruptedException {
            if (sell(order) == 1) {
                jdbc.sql("INSERT INTO ticket VALUES (1), (1)").update();
                calls.limitIsOver.await();
            }
        }

        @ExactlyOnceListener(queueNames = "hidden", key = "#order", effects = Effects.DATABASE)
        void hidden(String order) {
            sellOrFail(order);
        }

        @ExactlyOnceListener(queueNames = "hidden.fifo", key = "#order", effects = Effects.DATABASE)
        void hiddenInGroup(String order) {
            sellOrFail(order);
        }

        @ExactlyOnceListener(queueNames = "hidden-batch", key = "#payload", effects = Effects.DATABASE)
        BatchResult hiddenBatch(List<String> orders) {
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < orders.size(); index++) {
                if (sell(orders.get(index)) == 1) {
                    result = result.andFailed(index, new IllegalStateException("the carrier does not answer"));
                }
            }
            return result;
        }
    }

    @Aspect
    static class RepeatsInside {

        @Around(
                "execution(* *.repeatedInside(..)) || execution(* *.repeatedAroundTransactional(..)) || execution(* *.observedAndRepeated(..))")
        Object again(ProceedingJoinPoint point) throws Throwable {
            return repeat(point);
        }
    }

    @Aspect
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class RepeatsOutside {

        @Around("execution(* *.repeatedOutside(..))")
        Object again(ProceedingJoinPoint point) throws Throwable {
            return repeat(point);
        }
    }

    private static Object repeat(ProceedingJoinPoint point) throws Throwable {
        try {
            return point.proceed();
        } catch (IllegalStateException failure) {
            return point.proceed();
        }
    }

    @Aspect
    static class Hides {

        @Around("execution(* *.hidden*(..))")
        Object hide(ProceedingJoinPoint point) {
            try {
                Object result = point.proceed();
                return result == null ? null : BatchResult.allSucceeded();
            } catch (Throwable failure) {
                return null;
            }
        }
    }

    /** Calls the handler on another thread, and waits for it for a short time. */
    @Aspect
    @Order(0)
    static class LimitsTime implements AutoCloseable {

        private final ExecutorService threads = Executors.newCachedThreadPool();
        private final Calls calls;

        LimitsTime(Calls calls) {
            this.calls = calls;
        }

        @Around("execution(* *.limited(..))")
        Object limit(ProceedingJoinPoint point) throws Exception {
            try {
                return threads.submit(() -> proceed(point)).get(50, TimeUnit.MILLISECONDS);
            } finally {
                calls.limitIsOver.countDown();
            }
        }

        private static Object proceed(ProceedingJoinPoint point) throws Exception {
            try {
                return point.proceed();
            } catch (Exception failure) {
                throw failure;
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Calls.class, Shop.class, RepeatsInside.class, RepeatsOutside.class, Hides.class, LimitsTime.class})
    static class Application {}

    private static ConfigurableApplicationContext application;
    private static JdbcClient jdbc;
    private static Calls calls;

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(Application.class, ExactlyOnceServers.class)
                .web(WebApplicationType.NONE)
                .run("--spring.cloud.aws.sqs.listener.poll-timeout=1s", "--spring.main.banner-mode=off");
        jdbc = application.getBean(JdbcClient.class);
        calls = application.getBean(Calls.class);
        jdbc.sql("CREATE TABLE sale (order_id text, step text)").update();
        jdbc.sql("CREATE TABLE ticket (number int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
                .update();
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    /**
     * A second call in the same transaction would leave "paid" twice, and an answer instead of it "paid" alone. If a
     * message is deleted before the application's own transaction commits, neither is there.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "repeated-inside",
                "repeated-around-transactional",
                "repeated-outside",
                "limited",
                "hidden",
                "hidden.fifo",
                "hidden-batch"
            })
    void orderIsPaidAndShippedOnce(String queue) {
        String order = "A-" + queue;
        SqsTemplate template = application.getBean(SqsTemplate.class);
        template.send(to -> {
            to.queue(queue).payload(order);
            if (queue.endsWith(".fifo")) {
                to.messageGroupId("orders").messageDeduplicationId(order);
            }
        });

        await().until(() -> count("exactly_once_claim WHERE status = 'COMPLETED' AND key = ?", order) == 1);

        assertThat(count("sale WHERE step = 'paid' AND order_id = ?", order)).isEqualTo(1);
        assertThat(count("sale WHERE step = 'shipped' AND order_id = ?", order)).isEqualTo(1);
        assertThat(calls.ofOrders).containsEntry(order, 2);
    }

    /** In observe mode, a handler runs as under a plain {@code @SqsListener}: each call commits what it writes. */
    @Test
    void aspectRepeatsAnObservedHandler() {
        String order = "A-observed";
        application.getBean(SqsTemplate.class).send("observed", order);

        await().until(() -> count("exactly_once_claim WHERE status = 'COMPLETED' AND key = ?", order) == 1);

        assertThat(count("sale WHERE step = 'paid' AND order_id = ?", order)).isEqualTo(2);
        assertThat(count("sale WHERE step = 'shipped' AND order_id = ?", order)).isEqualTo(1);
        assertThat(calls.ofOrders).containsEntry(order, 2);
    }

    private static int count(String rows, String order) {
        return jdbc.sql("SELECT count(*) FROM " + rows)
                .param(order)
                .query(Integer.class)
                .single();
    }
}
