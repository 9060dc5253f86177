package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.AbstractMessageProcessingPipelineSink;
import io.awspring.cloud.sqs.listener.sink.BatchMessageSink;
import io.awspring.cloud.sqs.listener.sink.FanOutMessageSink;
import io.awspring.cloud.sqs.support.observation.SqsListenerObservation;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.listener.permits.HandlerSlots;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.core.task.TaskExecutor;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.messaging.Message;

/** Slots and permits are given back by awspring's own sinks, or in spite of them. */
class SlottedSinkTests {

    private static final int MOST = 2;

    private final HandlerSlots slots = new HandlerSlots(MOST, MOST, System::nanoTime);
    private final AtomicInteger permits = new AtomicInteger();
    private final AtomicInteger handled = new AtomicInteger();
    private final AtomicInteger abandoned = new AtomicInteger();
    private TaskExecutor threads = Runnable::run;

    private final MessageProcessingPipeline<String> pipeline = new MessageProcessingPipeline<>() {
        @Override
        public CompletableFuture<Message<String>> process(
                Message<String> message, MessageProcessingContext<String> context) {
            handled.incrementAndGet();
            return CompletableFuture.completedFuture(message);
        }

        @Override
        public CompletableFuture<Collection<Message<String>>> process(
                Collection<Message<String>> messages, MessageProcessingContext<String> context) {
            handled.addAndGet(messages.size());
            return CompletableFuture.completedFuture(messages);
        }
    };

    private <S extends AbstractMessageProcessingPipelineSink<String>> S started(S sink) {
        sink.configure(SqsContainerOptions.builder().build());
        sink.setObservationSpecifics(new SqsListenerObservation.SqsSpecifics());
        sink.setTaskExecutor(task -> threads.execute(task));
        sink.setMessagePipeline(pipeline);
        sink.start();
        return sink;
    }

    private CompletableFuture<Void> emit(AbstractMessageProcessingPipelineSink<String> sink, int messages) {
        SlottedSink<String> slotted = new SlottedSink<>(
                sink,
                slots,
                MessageProcessingContext.<String>create().setBackPressureReleaseCallback(permits::incrementAndGet),
                sink instanceof BatchMessageSink,
                lost -> abandoned.addAndGet(lost.size()));
        slotted.arrive(messages);
        return slotted.emit(
                Stream.generate(() -> ListenerRig.message(Map.of(SqsHeaders.SQS_QUEUE_NAME_HEADER, "orders")))
                        .limit(messages)
                        .toList());
    }

    @Test
    void slotsAndPermitsAreGivenBackWhenHandlersEnd() {
        assertThat(emit(started(new FanOutMessageSink<>()), 5)).isCompleted();
        assertThat(handled).hasValue(5);
        assertThat(permits).hasValue(5);
        assertThat(slots.take(MOST)).isCompleted();
    }

    @Test
    void slotsAndPermitsOfMessagesThatTheExecutorRejectsAreGivenBack() {
        threads = task -> {
            throw new TaskRejectedException("full (simulated)");
        };

        assertThat(emit(started(new FanOutMessageSink<>()), 3)).isDone();
        assertThat(permits).hasValue(3);
        assertThat(slots.take(MOST)).isCompleted();
    }

    @Test
    void slotsAndPermitsOfMessagesThatTheSystemHasNoThreadForAreGivenBackAndTheseAreAbandoned() {
        threads = task -> {
            throw new OutOfMemoryError("unable to create native thread (simulated)");
        };

        assertThat(emit(started(new FanOutMessageSink<>()), 3)).isDone();
        assertThat(abandoned).hasValue(3);
        assertThat(permits).hasValue(3);
        assertThat(slots.take(MOST)).isCompleted();
    }

    @Test
    void slotsAndPermitsOfABatchThatTheExecutorRejectsAreGivenBack() {
        threads = task -> {
            throw new TaskRejectedException("full (simulated)");
        };

        assertThat(emit(started(new BatchMessageSink<>()), MOST)).isDone();
        assertThat(permits).hasValue(MOST);
        assertThat(slots.take(MOST)).isCompleted();
    }

    @Test
    void slotsAndPermitsOfMessagesThatAStoppedSinkDropsAreGivenBack() {
        FanOutMessageSink<String> sink = started(new FanOutMessageSink<>());
        sink.stop();

        assertThat(emit(sink, 3)).isDone();
        assertThat(permits).hasValue(3);
        assertThat(slots.take(MOST)).isCompleted();
    }

    /** A back pressure handler of the application's own may give more permits than its listener handles at a time. */
    @Test
    void batchOfMoreMessagesThanThereAreSlotsBeginsAloneAndGivesAllBack() {
        assertThat(emit(started(new BatchMessageSink<>()), MOST + 3)).isCompleted();

        assertThat(handled).hasValue(MOST + 3);
        assertThat(permits).hasValue(MOST + 3);
        assertThat(slots.take(MOST)).isCompleted();
        assertThat(slots.take(1)).isNotDone();
    }
}
