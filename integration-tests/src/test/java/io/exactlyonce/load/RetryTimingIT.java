package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * Measures the time from the moment when a message is visible again to its next attempt, at low load. The first two
 * attempts of some messages fail. The listener has Spring Cloud AWS's defaults: ten messages at a time, polls of 10 s,
 * and up to 10 s between polls.
 */
@LoadTrial
class RetryTimingIT {

    private static final int MESSAGES = Trial.choose(60, 4);
    private static final long APART_MILLIS = 700;
    private static final int ATTEMPTS = 3;

    /** Half of the delay that a user would see if a poll waited for permits. */
    private static final Duration LONGEST = Duration.ofSeconds(5);

    private static final SqsServer SQS = SqsServer.shared();

    /** Other handlers, which keep running meanwhile. */
    enum Beside {
        NOTHING(0),
        ONE_SLOW_HANDLER(1),
        NINE_SLOW_HANDLERS(9);

        private final int slow;

        Beside(int slow) {
            this.slow = slow;
        }
    }

    /** Records when returned messages will be visible. The time counts from the request, so it is slightly early. */
    static final class Returns implements SqsAsyncClientCustomizer, ExecutionInterceptor {
        private final Map<String, String> received = new ConcurrentHashMap<>();
        private final Map<String, Long> visibleAt = new ConcurrentHashMap<>();

        @Override
        public void customize(SqsAsyncClientBuilder builder) {
            builder.overrideConfiguration(builder.overrideConfiguration().toBuilder()
                    .addExecutionInterceptor(this)
                    .build());
        }

        @Override
        public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
            if (context.request() instanceof ChangeMessageVisibilityBatchRequest request) {
                request.entries()
                        .forEach(entry -> visibleAt.put(
                                Objects.requireNonNull(received.get(entry.receiptHandle())),
                                System.nanoTime() + TimeUnit.SECONDS.toNanos(entry.visibilityTimeout())));
            }
        }

        @Override
        public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
            if (context.response() instanceof ReceiveMessageResponse response) {
                response.messages().forEach(message -> received.put(message.receiptHandle(), message.body()));
            }
        }

        Duration visibleFor(String order) {
            return Duration.ofNanos(System.nanoTime() - visibleAt.get(order));
        }
    }

    static class Shop {
        private final Returns returns;
        private final CountDownLatch gate = new CountDownLatch(1);
        private final Set<String> running = ConcurrentHashMap.newKeySet();
        private final Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();
        private final List<Duration> waits = new CopyOnWriteArrayList<>();

        Shop(Returns returns) {
            this.returns = returns;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void sell(String order) throws InterruptedException {
            if (order.startsWith("slow")) {
                running.add(order);
                gate.await();
                return;
            }
            int attempt =
                    attempts.computeIfAbsent(order, key -> new AtomicInteger()).incrementAndGet();
            if (attempt > 1) {
                waits.add(returns.visibleFor(order));
            }
            if (attempt < ATTEMPTS) {
                throw new IllegalStateException("the partner is away");
            }
        }

        int running() {
            return running.size();
        }

        List<Duration> waits() {
            return waits;
        }

        void open() {
            gate.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void messageIsHandledSoonAfterItIsVisibleAgain(Beside beside) throws Exception {
        String queue = SQS.createQueue(30);
        Map<String, String> settings = Map.of(
                "spring.cloud.aws.sqs.listener.poll-timeout",
                Trial.choose(10, 1) + "s",
                "spring.cloud.aws.sqs.listener.max-delay-between-polls",
                "10s");
        try (TestApplication application = TestApplication.on(queue, settings, Shop.class, Returns.class)) {
            Shop shop = application.bean(Shop.class);
            Senders.send(SQS, queue, beside.slow, number -> "slow-" + number);
            await().atMost(Duration.ofSeconds(30)).until(() -> shop.running() == beside.slow);
            double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();

            for (int message = 0; message < MESSAGES; message++) {
                SQS.send(queue, "order-" + message);
                new CountDownLatch(1).await(APART_MILLIS, TimeUnit.MILLISECONDS);
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> shop.waits().size() == MESSAGES * (ATTEMPTS - 1));
            shop.open();
            SQS.awaitEmpty(queue);

            List<Duration> waits = shop.waits().stream().sorted().toList();
            assertThat(percentile(waits, 95)).isLessThan(LONGEST);
            Trial.note(
                    "7-retries-" + beside.name().toLowerCase(Locale.ROOT),
                    "%d messages, one each %d ms, that fail twice; beside %d handlers that do not end"
                            .formatted(MESSAGES, APART_MILLIS, beside.slow),
                    "each handled at its third attempt",
                    "from visible again to the next attempt: p50 %d ms, p95 %d ms, at the most %d ms; load %.1f"
                            .formatted(
                                    percentile(waits, 50).toMillis(),
                                    percentile(waits, 95).toMillis(),
                                    percentile(waits, 100).toMillis(),
                                    load));
        }
    }

    private static Duration percentile(List<Duration> sorted, int percent) {
        return sorted.get(Math.max(0, (int) Math.ceil(sorted.size() * percent / 100.0) - 1));
    }
}
