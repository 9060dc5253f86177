package io.exactlyonce.listener.acknowledgement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementExecutor;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementOrdering;
import io.exactlyonce.listener.message.MessageOrigin;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.messaging.Message;
import org.springframework.test.util.ReflectionTestUtils;

class FlushingAcknowledgementProcessorTests {

    private static final Duration PATIENCE = Duration.ofMillis(300);

    private FlushingAcknowledgementProcessor<String> processor = new FlushingAcknowledgementProcessor<>();
    private final List<Message<String>> sent = new CopyOnWriteArrayList<>();
    private CompletableFuture<Void> answer = CompletableFuture.completedFuture(null);

    @BeforeEach
    void start() {
        start(PATIENCE, messages -> {
            sent.addAll(messages);
            return answer;
        });
    }

    private void start(Duration patience, AcknowledgementExecutor<String> executor) {
        start(Duration.ofHours(1), patience, executor);
    }

    private void start(Duration interval, Duration patience, AcknowledgementExecutor<String> executor) {
        processor = new FlushingAcknowledgementProcessor<>();
        processor.setAcknowledgementExecutor(executor);
        processor.configure(SqsContainerOptions.builder()
                .acknowledgementInterval(interval)
                .acknowledgementThreshold(3)
                .acknowledgementOrdering(AcknowledgementOrdering.PARALLEL)
                .acknowledgementShutdownTimeout(patience)
                .build());
        processor.setMaxAcknowledgementsPerBatch(10);
        processor.setId("orders-0");
        processor.setTaskExecutor(new SimpleAsyncTaskExecutor("orders#message_source-"));
        processor.start();
    }

    @AfterEach
    void stop() {
        processor.stop();
    }

    private static Message<String> message() {
        return new ReceivedMessage(ListenerRig.delivery(), null, "", "body", MessageOrigin.UNKNOWN)
                .attachTo(ListenerRig.message(Map.of()), Map.of());
    }

    private Message<String> acknowledge() {
        Message<String> message = message();
        assertThat(processor.onAcknowledge(message)).isCompleted();
        return message;
    }

    /** Trap: awspring waits for a flush that it does not schedule any more, and drops what is buffered. */
    @Test
    @Timeout(10)
    void whatIsBufferedIsSentWhenTheListenerStops() {
        Message<String> first = acknowledge();
        Message<String> second = acknowledge();
        assertThat(sent).isEmpty();

        processor.stop();

        assertThat(sent).containsExactly(first, second);
    }

    @Test
    void whatHasBeenSentIsNotSentAgain() {
        List<Message<String>> full = List.of(acknowledge(), acknowledge(), acknowledge());
        await().until(() -> sent.size() == full.size());

        processor.stop();

        assertThat(sent).containsExactlyElementsOf(full);
    }

    /**
     * Trap: awspring sends nothing until the wall clock has come to an interval after its last flush, which is far ahead once
     * the clock has been set back. No server sets this JVM's clock back, so its last flush is set ahead.
     */
    @Test
    @Timeout(20)
    void whatIsBufferedIsSentAlthoughTheWallClockWasSetBack() {
        processor.stop();
        start(Duration.ofMillis(20), PATIENCE, messages -> {
            sent.addAll(messages);
            return answer;
        });
        setLastFlush(processor, Instant.now().plus(Duration.ofHours(1)));

        Message<String> first = acknowledge();
        await().until(() -> !sent.isEmpty());
        Message<String> second = acknowledge();
        await().until(() -> sent.size() == 2);

        assertThat(sent).containsExactly(first, second);
    }

    private static void setLastFlush(FlushingAcknowledgementProcessor<String> processor, Instant time) {
        Object buffering = field(processor, "acknowledgementProcessor");
        Object context = field(buffering, "context");
        ReflectionTestUtils.setField(context, "lastAcknowledgement", time);
    }

    private static Object field(Object owner, String name) {
        return Objects.requireNonNull(ReflectionTestUtils.getField(owner, name), name);
    }

    @Test
    @Timeout(10)
    void unansweredDeletesAreAwaitedUntilTheTimeout() {
        answer = new CompletableFuture<>();
        acknowledge();

        long begun = System.nanoTime();
        processor.stop();

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isBetween(PATIENCE, PATIENCE.multipliedBy(20));
        assertThat(sent).hasSize(1);
    }

    @Test
    @Timeout(10)
    void deletesThatFailDoNotKeepTheListenerFromStopping() {
        answer = CompletableFuture.failedFuture(new IllegalStateException("connection refused"));
        acknowledge();

        processor.stop();

        assertThat(processor.isRunning()).isFalse();
    }

    @Test
    @Timeout(20)
    void whatIsAcknowledgedWhileTheListenerStopsIsSent() {
        Message<String> first = acknowledge();
        Message<String> late = message();
        processor.setAcknowledgementExecutor(messages -> {
            if (sent.isEmpty()) {
                // The caller has seen the listener run.
                processor.doOnAcknowledge(late);
            }
            sent.addAll(messages);
            return answer;
        });

        processor.stop();

        assertThat(sent).containsExactly(first, late);
    }

    /** It comes while the stop waits for other deletes, and is overdue before these are answered. */
    @Test
    @Timeout(20)
    void stopAwaitsDeletesThatWereOverdueMeanwhile() {
        processor.stop();
        CompletableFuture<Void> late = new CompletableFuture<>();
        answer = new CompletableFuture<>();
        start(Duration.ofMillis(20), Duration.ofSeconds(15), messages -> {
            sent.addAll(messages);
            return sent.size() == 1 ? answer : late;
        });
        acknowledge();
        await().until(() -> sent.size() == 1);
        Thread stopping = new Thread(processor::stop);
        stopping.start();
        await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
        processor.doOnAcknowledge(message());
        await().until(() -> sent.size() == 2);

        answer.complete(null);

        await().during(Duration.ofMillis(200)).until(stopping::isAlive);
        late.complete(null);
        await().until(() -> !stopping.isAlive());
    }

    @Test
    @Timeout(20)
    void stopAwaitsDeletesThatAreJustBeingSent() throws Exception {
        processor.stop();
        CountDownLatch sending = new CountDownLatch(1);
        CompletableFuture<Void> gate = new CompletableFuture<>();
        start(Duration.ofSeconds(15), messages -> {
            sending.countDown();
            gate.join();
            sent.addAll(messages);
            return answer;
        });
        for (int i = 0; i < 3; i++) {
            acknowledge();
        }
        sending.await();

        CompletableFuture<Integer> sentAtTheEnd = new CompletableFuture<>();
        Thread stopping = new Thread(() -> {
            processor.stop();
            sentAtTheEnd.complete(sent.size());
        });
        stopping.start();
        await().until(() -> sentAtTheEnd.isDone() || stopping.getState() == Thread.State.TIMED_WAITING);
        gate.complete(null);

        assertThat(sentAtTheEnd.get()).isEqualTo(3);
    }

    @Test
    void interruptEndsTheWait() {
        answer = new CompletableFuture<>();
        acknowledge();
        Thread.currentThread().interrupt();

        processor.stop();

        assertThat(Thread.interrupted()).isTrue();
    }
}
