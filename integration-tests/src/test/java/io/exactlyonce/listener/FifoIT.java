package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.MessageExecutionThreadFactory;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.testing.DeviatesOn;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsProduct;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;

/** Groups of FIFO queues stay in order, whatever happens to one of their messages. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class FifoIT {

    private static final int WINDOW_SECONDS = 2;
    private static final int RECEIVES = 3;
    private static final SqsServer SQS = SqsServer.shared();

    record Step(String name, long millis, int failures) {

        static String quick(String name) {
            return json(name, 0, 0);
        }

        static String slow(String name, long millis) {
            return json(name, millis, 0);
        }

        static String failing(String name, int failures) {
            return json(name, 0, failures);
        }

        private static String json(String name, long millis, int failures) {
            return "{\"name\":\"%s\",\"millis\":%d,\"failures\":%d}".formatted(name, millis, failures);
        }
    }

    static class Steps {
        private final List<String> calls = new CopyOnWriteArrayList<>();

        List<String> calls() {
            return calls;
        }

        List<String> callsOf(String group) {
            return calls.stream().filter(name -> name.startsWith(group)).toList();
        }

        @ExactlyOnceListener(id = "steps", queueNames = "${test.queue}", key = "#step.name")
        void handle(Step step, Claim claim) throws InterruptedException {
            calls.add(step.name());
            // Simulates work, because the test needs a handler that takes time.
            new CountDownLatch(1).await(step.millis(), TimeUnit.MILLISECONDS);
            if (claim.attempt() <= step.failures()) {
                throw new IllegalStateException("attempt " + claim.attempt());
            }
        }
    }

    private final String queue = SQS.createFifoQueue(WINDOW_SECONDS, RECEIVES);

    private TestApplication start(Class<?> listener) {
        return start(listener, queue, "true");
    }

    private static TestApplication start(Class<?> listener, String queue, String atOnce) {
        return start(listener, queue, atOnce, Map.of());
    }

    private static TestApplication start(
            Class<?> listener, String queue, String atOnce, Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.put("test.queue", queue);
        all.put("spring.cloud.aws.sqs.listener.auto-startup", atOnce);
        return TestApplication.start(EmbeddedDatabase.shared().createDatabase(), all, listener, SqsRequests.class);
    }

    private void send(String group, String body) {
        SQS.send(queue, group, UUID.randomUUID().toString(), body);
    }

    @Test
    void messageThatWaitsLongerThanItsVisibilityTimeoutBehindOthersOfItsGroupIsHandledOnceAndInOrder() {
        for (int i = 1; i <= 5; i++) {
            send("a", Step.slow("a" + i, 800));
        }
        try (TestApplication application = start(Steps.class)) {
            SQS.awaitEmpty(queue);

            assertThat(application.bean(Steps.class).calls()).containsExactly("a1", "a2", "a3", "a4", "a5");
            assertThat(application.outcomes("acquired")).isEqualTo(5);
            assertThat(application.outcomes("held_elsewhere") + application.outcomes("already_completed"))
                    .isZero();
        }
    }

    @Test
    @DeviatesOn(server = SqsProduct.LOCALSTACK, reason = DeviatesOn.GROUP_IN_FLIGHT)
    void failedMessageStopsTheRestOfItsGroupWhichIsVisibleAgainAtOnce() {
        send("a", Step.quick("a1"));
        send("a", Step.failing("a2", 1));
        send("a", Step.quick("a3"));
        send("b", Step.quick("b1"));
        send("b", Step.quick("b2"));
        try (TestApplication application = start(Steps.class)) {
            Steps steps = application.bean(Steps.class);
            SQS.awaitEmpty(queue);

            assertThat(steps.callsOf("a")).containsExactly("a1", "a2", "a2", "a3");
            assertThat(steps.callsOf("b")).containsExactly("b1", "b2");
            assertThat(returnedAtOnce(application)).isEqualTo(1);
            assertThat(SQS.size(SqsServer.deadLettersOf(queue))).isZero();
        }
    }

    @Test
    @DeviatesOn(server = SqsProduct.LOCALSTACK, reason = DeviatesOn.GROUP_IN_FLIGHT)
    void messageThatCannotBeReadStopsItsGroupUntilItIsInTheDeadLetterQueue(CapturedOutput output) {
        send("a", Step.quick("a1"));
        send("a", "no JSON at all");
        send("a", Step.quick("a3"));
        send("b", Step.quick("b1"));
        try (TestApplication application = start(Steps.class)) {
            Steps steps = application.bean(Steps.class);
            await().until(() -> output.toString().contains("cannot be read"));
            await().until(() -> steps.calls().containsAll(List.of("a1", "b1")));
            assertThat(steps.callsOf("a")).containsExactly("a1");

            SQS.awaitEmpty(queue);

            assertThat(steps.callsOf("a")).containsExactly("a1", "a3");
            assertThat(SQS.size(SqsServer.deadLettersOf(queue))).isEqualTo(1);
        }
    }

    @Test
    void messageWhoseKeyIsHeldElsewhereStopsItsGroupQuietly(CapturedOutput output) {
        try (TestApplication application = start(Steps.class)) {
            application
                    .bean(ClaimStore.class)
                    .claim(List.of(new ClaimRequest(
                            new ClaimKey(queue, "a1"), UUID.randomUUID(), "another worker", Duration.ofSeconds(3))));
            send("a", Step.quick("a1"));
            send("a", Step.quick("a2"));

            SQS.awaitEmpty(queue);

            assertThat(application.bean(Steps.class).calls()).containsExactly("a1", "a2");
            assertThat(application.outcomes("held_elsewhere")).isPositive();
            // The server also logs its late answers, which do not count here.
            assertThat(entriesExceptOfOtherQueues(output))
                    .doesNotContain("ERROR")
                    .doesNotContainPattern("io\\.(exactlyonce|awspring)\\S*Exception");
        }
    }

    /** Two handlers that wait for each other. Both must run at the same time, and there is no third thread. */
    static class Pairs extends Steps {
        private final CyclicBarrier both = new CyclicBarrier(2);

        @Bean
        static ExactlyOnceContainerFactory twoThreads(
                ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            ThreadPoolTaskExecutor threads = new ThreadPoolTaskExecutor();
            threads.setCorePoolSize(2);
            threads.setThreadFactory(new MessageExecutionThreadFactory("two-"));
            threads.initialize();
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options -> options.componentsTaskExecutor(threads)
                            .maxConcurrentMessages(6)
                            .maxMessagesPerPoll(4)
                            .maxDelayBetweenPolls(Duration.ofSeconds(1))
                            .pollTimeout(Duration.ofSeconds(1))
                            .autoStartup(false))
                    .build());
        }

        @Override
        @ExactlyOnceListener(id = "steps", queueNames = "${test.queue}", key = "#step.name", factory = "twoThreads")
        void handle(Step step, Claim claim) throws InterruptedException {
            calls().add(step.name());
            if (step.millis() > 0) {
                meet(step);
            }
        }

        private void meet(Step step) throws InterruptedException {
            try {
                both.await(step.millis(), TimeUnit.MILLISECONDS);
                calls().add(step.name() + " met");
            } catch (BrokenBarrierException | TimeoutException alone) {
                both.reset();
            }
        }
    }

    @Test
    @DeviatesOn(server = SqsProduct.LOCALSTACK, reason = DeviatesOn.GROUP_IN_FLIGHT)
    void restOfAGroupWhoseHeadWaitsHoldsNoThread() {
        String own = SQS.createFifoQueue(WINDOW_SECONDS, 10);
        for (int i = 1; i <= 4; i++) {
            SQS.send(own, "a", "a" + i, Step.quick("a" + i));
        }
        try (TestApplication application = start(Pairs.class, own, "false")) {
            ClaimStore store = application.bean(ClaimStore.class);
            ClaimRequest held = new ClaimRequest(
                    new ClaimKey(own, "a1"), UUID.randomUUID(), "another worker", Duration.ofSeconds(60));
            store.claim(List.of(held));
            application.container("steps").start();
            Pairs pairs = application.bean(Pairs.class);
            await().until(() -> application.gauge("exactly.once.waiting", "listener", "steps") == 1);

            SQS.send(own, "b", "b1", Step.slow("b1", 10_000));
            SQS.send(own, "c", "c1", Step.slow("c1", 10_000));
            await().atMost(Duration.ofSeconds(15)).until(() -> pairs.calls().containsAll(List.of("b1 met", "c1 met")));
            assertThat(pairs.callsOf("a")).isEmpty();

            store.resolve(List.of(new ClaimResolution.Completed(held.id(), null)));
            await().until(() -> SQS.size(own) == 0);
            assertThat(pairs.callsOf("a")).containsExactly("a2", "a3", "a4");
            assertThat(SQS.size(SqsServer.deadLettersOf(own))).isZero();
        }
    }

    /**
     * Raises the receive limit during the last receive of the first message, so that this receive is no longer the
     * last.
     */
    static class RaisesTheLimit extends Steps {
        private static volatile String queue = "";

        @Override
        @ExactlyOnceListener(id = "steps", queueNames = "${test.queue}", key = "#step.name")
        void handle(Step step, Claim claim) throws InterruptedException {
            if (claim.attempt() == 1 && step.failures() > 0) {
                SQS.setMaxReceiveCount(queue, 10);
            }
            super.handle(step, claim);
        }
    }

    @Test
    @DeviatesOn(server = SqsProduct.LOCALSTACK, reason = DeviatesOn.GROUP_IN_FLIGHT)
    void messageThatFailsOnWhatWasItsLastReceiveKeepsItsGroupBackOnceThePolicyAllowsMore() {
        String oneReceive = SQS.createFifoQueue(WINDOW_SECONDS, 1);
        RaisesTheLimit.queue = oneReceive;
        SQS.send(oneReceive, "a", "1", Step.failing("a1", 1));
        SQS.send(oneReceive, "a", "2", Step.quick("a2"));
        try (TestApplication application = start(RaisesTheLimit.class, oneReceive, "true")) {
            SQS.awaitEmpty(oneReceive);

            assertThat(application.bean(Steps.class).calls()).containsExactly("a1", "a1", "a2");
        }
    }

    /**
     * The container never collects a full batch of deletes, because later messages of the group wait for the first
     * delete.
     */
    static class GathersDeletes extends Steps {

        @Bean
        static ExactlyOnceContainerFactory gathering(
                ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options -> options.acknowledgementThreshold(10).pollTimeout(Duration.ofSeconds(1)))
                    .build());
        }

        @Override
        @ExactlyOnceListener(id = "steps", queueNames = "${test.queue}", key = "#step.name", factory = "gathering")
        void handle(Step step, Claim claim) throws InterruptedException {
            super.handle(step, claim);
        }
    }

    @Test
    void groupContinuesAlthoughItsContainerGathersMoreDeletesThanItHasMessages() {
        send("a", Step.quick("a0"));
        try (TestApplication application = start(GathersDeletes.class)) {
            Steps steps = application.bean(Steps.class);
            await().until(() -> steps.calls().contains("a0"));
            send("a", Step.quick("a1"));
            send("a", Step.quick("a2"));
            send("a", Step.quick("a3"));

            await().until(() -> steps.calls().size() == 4);
            SQS.awaitEmpty(queue);

            assertThat(steps.calls()).containsExactly("a0", "a1", "a2", "a3");
        }
    }

    /** The queue of an earlier test may log late. Such an entry names that queue in one event with its stack trace. */
    private String entriesExceptOfOtherQueues(CapturedOutput output) {
        return Pattern.compile("(?m)^(?=\\d\\d:\\d\\d:\\d\\d\\.)")
                .splitAsStream(output)
                .filter(entry -> entry.contains(queue) || !entry.contains("exactly-once-it-"))
                .collect(Collectors.joining());
    }

    private static long returnedAtOnce(TestApplication application) {
        return application.bean(SqsRequests.class).of(ChangeMessageVisibilityBatchRequest.class).stream()
                .flatMap(request -> request.entries().stream())
                .filter(entry -> entry.visibilityTimeout() == 0)
                .count();
    }
}
