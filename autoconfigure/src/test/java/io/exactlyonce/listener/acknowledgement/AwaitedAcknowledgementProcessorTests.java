package io.exactlyonce.listener.acknowledgement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementExecutor;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementOrdering;
import io.exactlyonce.listener.message.MessageOrigin;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.messaging.Message;

class AwaitedAcknowledgementProcessorTests {

    private static final Duration PATIENCE = Duration.ofMillis(300);

    private final AwaitedAcknowledgementProcessor<String> processor = new AwaitedAcknowledgementProcessor<>();
    private final CompletableFuture<Void> answer = new CompletableFuture<>();

    private CompletableFuture<Void> acknowledge(Duration patience) {
        return acknowledge(patience, messages -> answer);
    }

    private CompletableFuture<Void> acknowledge(Duration patience, AcknowledgementExecutor<String> executor) {
        processor.setAcknowledgementExecutor(executor);
        processor.configure(SqsContainerOptions.builder()
                .acknowledgementOrdering(AcknowledgementOrdering.PARALLEL)
                .acknowledgementShutdownTimeout(patience)
                .build());
        processor.setMaxAcknowledgementsPerBatch(10);
        processor.setId("orders.fifo-0");
        processor.start();
        Message<String> message = new ReceivedMessage(ListenerRig.delivery(), null, "", "body", MessageOrigin.UNKNOWN)
                .attachTo(ListenerRig.message(Map.of()), Map.of());
        return processor.onAcknowledge(message);
    }

    @AfterEach
    void stop() {
        processor.stop();
    }

    /** The client is closed behind the stop: a delete that is under way then, or is to be sent again, would be lost. */
    @Test
    @Timeout(20)
    void stopWaitsUntilTheQueueHasAnswered() throws Exception {
        CompletableFuture<Void> deleted = acknowledge(Duration.ofSeconds(15));
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
        assertThat(deleted).succeedsWithin(Duration.ofSeconds(5));
    }

    @Test
    @Timeout(10)
    void queueThatDoesNotAnswerIsAwaitedUntilTheTimeout() {
        CompletableFuture<Void> deleted = acknowledge(PATIENCE);

        long begun = System.nanoTime();
        processor.stop();

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isBetween(PATIENCE, PATIENCE.multipliedBy(20));
        assertThat(deleted).isNotDone();
    }

    @Test
    @Timeout(10)
    void deleteThatFailedIsNotAwaited() {
        CompletableFuture<Void> deleted = acknowledge(Duration.ofHours(1));
        answer.completeExceptionally(new IllegalStateException("throttled"));

        processor.stop();

        assertThat(deleted).isCompletedExceptionally();
    }

    @Test
    @Timeout(10)
    void deleteThatCannotEvenBeginIsNotAwaited() {
        Throwable thrown = catchThrowable(() -> acknowledge(Duration.ofHours(1), messages -> {
            throw new IllegalStateException("the client is closed");
        }));

        processor.stop();

        assertThat(thrown).hasMessage("the client is closed");
    }
}
