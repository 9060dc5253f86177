package io.exactlyonce.listener.acknowledgement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementExecutor;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.visibility.FakeTimer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.messaging.Message;

class DeleteBufferTests {

    private static final Duration PATIENCE = Duration.ofMillis(300);

    private final FakeTimer timer = new FakeTimer();
    private DeleteBuffer<String> processor = new DeleteBuffer<>(timer, false);
    private final List<Message<String>> sent = new CopyOnWriteArrayList<>();
    private CompletableFuture<Void> answer = CompletableFuture.completedFuture(null);

    @BeforeEach
    void start() {
        timer.hold();
        start(PATIENCE, messages -> {
            sent.addAll(messages);
            return answer;
        });
    }

    private void start(Duration patience, AcknowledgementExecutor<String> executor) {
        start(false, Duration.ofHours(1), 3, patience, executor);
    }

    private void start(
            boolean isFifo,
            @Nullable Duration interval,
            @Nullable Integer threshold,
            Duration patience,
            AcknowledgementExecutor<String> executor) {
        processor = new DeleteBuffer<>(timer, isFifo);
        processor.setAcknowledgementExecutor(executor);
        SqsContainerOptionsBuilder options = SqsContainerOptions.builder().acknowledgementShutdownTimeout(patience);
        if (interval != null) {
            options.acknowledgementInterval(interval);
        }
        if (threshold != null) {
            options.acknowledgementThreshold(threshold);
        }
        processor.configure(options.build());
        processor.setId("orders-0");
        processor.start();
    }

    @AfterEach
    void stop() {
        processor.stop();
    }

    private static Message<String> message() {
        return new ReceivedMessage(ListenerRig.delivery(), null, "", "body", UnknownOrigin.INSTANCE)
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

    @Test
    void whatIsNotEnoughForARequestIsSentWhenTheIntervalIsOver() {
        Message<String> first = acknowledge();
        Message<String> second = acknowledge();
        assertThat(timer.delays()).containsExactly(Duration.ofHours(1));
        assertThat(sent).isEmpty();

        timer.run();
        assertThat(sent).containsExactly(first, second);

        Message<String> third = acknowledge();
        timer.run();
        assertThat(sent).containsExactly(first, second, third);
    }

    @Test
    void withoutAnIntervalOnlyTheirNumberCounts() {
        processor.stop();
        start(false, Duration.ZERO, 2, PATIENCE, messages -> {
            sent.addAll(messages);
            return answer;
        });

        acknowledge();
        timer.run();
        assertThat(sent).isEmpty();
        acknowledge();

        assertThat(sent).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({"true, , ", "false, 0s, 0"})
    void deletesOfFifoQueuesAndThoseOfAnApplicationThatAsksForItAreSentAtOnce(
            boolean isFifo, @Nullable String interval, @Nullable Integer threshold) {
        processor.stop();
        start(
                isFifo,
                interval == null ? null : DurationStyle.detectAndParse(interval),
                threshold,
                PATIENCE,
                messages -> {
                    sent.addAll(messages);
                    return answer;
                });

        Message<String> first = acknowledge();

        assertThat(sent).containsExactly(first);
    }

    @Test
    void standardQueuesDeletesAreGatheredAsWithAwspringUnlessTheApplicationAsksForSomethingElse() {
        processor.stop();
        start(false, null, null, PATIENCE, messages -> {
            sent.addAll(messages);
            return answer;
        });

        for (int message = 1; message < 10; message++) {
            acknowledge();
        }
        assertThat(sent).isEmpty();
        assertThat(timer.delays()).endsWith(Duration.ofSeconds(1));
        acknowledge();

        assertThat(sent).hasSize(10);
    }

    /** The client is closed behind the stop: a delete that is under way then, or is to be sent again, would be lost. */
    @Test
    @Timeout(20)
    void stopWaitsUntilTheQueueHasAnswered() throws Exception {
        processor.stop();
        answer = new CompletableFuture<>();
        start(true, null, null, Duration.ofSeconds(15), messages -> answer);
        processor.onAcknowledge(message());
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        Thread stopping = new Thread(() -> {
            processor.stop();
            stopped.complete(answer.isDone());
        });
        stopping.start();
        await().until(() -> stopped.isDone() || stopping.getState() == Thread.State.TIMED_WAITING);
        assertThat(stopped).isNotDone();

        answer.complete(null);

        assertThat(stopped.get()).isTrue();
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
        acknowledge();
        acknowledge();
        Thread third = new Thread(this::acknowledge);
        third.start();
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
