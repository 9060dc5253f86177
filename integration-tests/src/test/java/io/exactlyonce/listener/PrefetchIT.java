package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Messages that a listener receives and claims while as many handlers as permitted run. */
@UsesSqs
class PrefetchIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final int WINDOW_SECONDS = 60;

    /** Spring Cloud AWS's default, which is also the size limit of a poll. */
    private static final int MOST = 10;

    private static final int POLL = 10;

    /** The time that polls, claims and a slow machine may take. */
    private static final Duration SOON = Duration.ofSeconds(20);

    static class Listener {
        private final List<String> handled = new CopyOnWriteArrayList<>();
        private final Set<String> failed = ConcurrentHashMap.newKeySet();
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        private final CountDownLatch gate = new CountDownLatch(1);

        List<String> handled() {
            return handled;
        }

        int running() {
            return running.get();
        }

        int most() {
            return most.get();
        }

        void open() {
            gate.countDown();
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) throws InterruptedException {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            try {
                if (order.startsWith("slow")) {
                    // Simulates the work of the handler.
                    new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS);
                } else if (order.startsWith("gate")) {
                    gate.await();
                } else if (order.startsWith("fails") && failed.add(order)) {
                    throw new IllegalStateException("the partner is away");
                }
                handled.add(order);
            } finally {
                running.decrementAndGet();
            }
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start() {
        return TestApplication.on(queue, Listener.class);
    }

    private void send(String kind, int messages) {
        IntStream.range(0, messages).forEach(number -> SQS.send(queue, kind + number));
    }

    private int invisible() {
        return SQS.size(queue) - SQS.visible(queue);
    }

    /**
     * Handles a number of messages of one kind. Then blocks all handlers at a gate, while more messages than needed
     * wait in the queue.
     */
    private Listener blockAfter(TestApplication application, String kind, int messages) {
        Listener listener = application.bean(Listener.class);
        send(kind, messages);
        await().atMost(SOON).until(() -> SQS.size(queue) == 0);
        send("gate", 5 * MOST);
        await().atMost(SOON).until(() -> listener.running() == MOST);
        return listener;
    }

    private void awaitAllHandledOnce(Listener listener, int messages) {
        await().atMost(SOON).until(() -> SQS.size(queue) == 0);
        assertThat(listener.handled()).hasSize(messages).doesNotHaveDuplicates();
        assertThat(listener.most()).isEqualTo(MOST);
    }

    @Test
    void nextPollOfQuickHandlersIsReceivedAndClaimedWhileAsManyHandlersAsThereMayBeAreAtWork() {
        try (TestApplication application = start()) {
            Listener listener = blockAfter(application, "quick", 5 * MOST);

            await().atMost(SOON).until(() -> application.claims("HELD") == MOST + POLL);
            assertThat(invisible()).isEqualTo(MOST + POLL);
            await().during(Duration.ofSeconds(2)).until(() -> invisible() == MOST + POLL && listener.most() == MOST);

            listener.open();
            awaitAllHandledOnce(listener, 10 * MOST);
        }
    }

    @Test
    void nothingIsPrefetchedWhereHandlersTakeLong() {
        try (TestApplication application = start()) {
            Listener listener = blockAfter(application, "slow", 2 * MOST);

            await().during(Duration.ofSeconds(2)).until(() -> invisible() == MOST && listener.most() == MOST);

            listener.open();
            awaitAllHandledOnce(listener, 7 * MOST);
        }
    }

    /**
     * Trap: Spring Cloud AWS waits for `maxDelayBetweenPolls` or for the end of a handler, although its first poll
     * ended long before.
     */
    @Test
    void messageIsHandledAndRetriedWithTheThreadsThatAreFreeHoweverSlowTheHandlersOfTheFirstPollAre() {
        send("gate", POLL);
        Map<String, String> settings = Map.of(
                "spring.cloud.aws.sqs.listener.max-concurrent-messages",
                String.valueOf(2 * MOST),
                "spring.cloud.aws.sqs.listener.max-delay-between-polls",
                "1h");
        try (TestApplication application = TestApplication.on(queue, settings, Listener.class)) {
            Listener listener = application.bean(Listener.class);
            await().atMost(SOON).until(() -> listener.running() == POLL);

            SQS.send(queue, "fails");

            await().atMost(SOON).until(() -> listener.handled().contains("fails"));
            assertThat(listener.running()).isEqualTo(POLL);
            listener.open();
            await().atMost(SOON).until(() -> SQS.size(queue) == 0);
            assertThat(listener.handled()).hasSize(POLL + 1).doesNotHaveDuplicates();
        }
    }

    @Test
    void prefetchedMessageIsAnothersAtOnceWhenTheListenerStops() {
        try (TestApplication application = start()) {
            Listener listener = blockAfter(application, "quick", 5 * MOST);
            await().atMost(SOON).until(() -> application.claims("HELD") == MOST + POLL);

            Thread stop = new Thread(() -> application.container("orders").stop());
            stop.start();

            await().atMost(SOON).until(() -> invisible() == MOST && application.claims("HELD") == MOST);
            listener.open();
            await().atMost(SOON).until(() -> !stop.isAlive());
            assertThat(listener.handled()).hasSize(5 * MOST + MOST);
            assertThat(SQS.size(queue)).isEqualTo(4 * MOST);
            assertThat(SQS.visible(queue)).isEqualTo(4 * MOST);

            application.container("orders").start();
            awaitAllHandledOnce(listener, 10 * MOST);
        }
    }
}
