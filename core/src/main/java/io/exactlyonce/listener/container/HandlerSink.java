package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.AbstractMessageProcessingPipelineSink;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.task.TaskExecutor;
import org.springframework.messaging.Message;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Calls handlers as Spring Cloud AWS does: on the container's executor, with its interceptors, its error handler and
 * its observation. Claims the messages' keys first, unless they were already claimed with the poll. If the handler's
 * transaction claims the key, this class does not claim it. Messages that must not be handled, such as duplicates, do
 * not reach the interceptors.
 */
final class HandlerSink extends AbstractMessageProcessingPipelineSink<Object> {

    /** The logger under whose name Spring Cloud AWS logs the exceptions of handlers. */
    private static final Logger log = LoggerFactory.getLogger(AbstractMessageProcessingPipelineSink.class);

    private final ListenerEngine engine;

    private final boolean hasOwnExecutor;
    private volatile @Nullable ExecutorConfigurationSupport containers;

    /**
     * @param hasOwnExecutor whether the application has configured the executor. The container does not shut down such
     *     an executor
     */
    HandlerSink(ListenerEngine engine, boolean hasOwnExecutor) {
        this.engine = engine;
        this.hasOwnExecutor = hasOwnExecutor;
    }

    @Override
    public void setTaskExecutor(TaskExecutor executor) {
        containers = !hasOwnExecutor && executor instanceof ExecutorConfigurationSupport made ? made : null;
        super.setTaskExecutor(executor);
    }

    /**
     * Called when a handler has stopped its own listener. Without this call, the container would interrupt the handler
     * when it shuts its executor down.
     */
    void keepThreads() {
        ExecutorConfigurationSupport shutDown = containers;
        if (shutDown != null) {
            shutDown.setWaitForTasksToCompleteOnShutdown(true);
        }
    }

    @Override
    public void setMessagePipeline(MessageProcessingPipeline<Object> containers) {
        super.setMessagePipeline(new MessageProcessingPipeline<>() {
            @Override
            public CompletableFuture<Message<Object>> process(
                    Message<Object> message, MessageProcessingContext<Object> context) {
                return admitted(List.of(message)).isEmpty()
                        ? CompletableFuture.completedFuture(message)
                        : containers.process(message, context);
            }

            @Override
            public CompletableFuture<Collection<Message<Object>>> process(
                    Collection<Message<Object>> messages, MessageProcessingContext<Object> context) {
                Collection<Message<Object>> admitted = admitted(messages);
                return admitted.isEmpty()
                        ? CompletableFuture.completedFuture(messages)
                        : containers.process(admitted, context);
            }
        });
    }

    /**
     * Runs the pipeline as soon as a thread is free.
     *
     * @return a future that never fails. It completes when the pipeline has ended, or when the executor has rejected it
     */
    CompletableFuture<Void> run(List<ReceivedMessage> messages, boolean isBatch) {
        MessageProcessingContext<Object> context = MessageProcessingContext.create();
        try {
            List<Message<Object>> polled = ReceivedMessage.messages(messages);
            CompletableFuture<Void> end = isBatch ? execute(polled, context) : execute(polled.get(0), context);
            return end.exceptionally(failure -> failed(messages, failure));
        } catch (RuntimeException refused) {
            failed(messages, refused);
            return CompletableFuture.completedFuture(null);
        }
    }

    /**
     * Stores the exception, so that a later log line can report it together with the time of the next attempt. Spring
     * Cloud AWS has already logged the stack trace at ERROR.
     */
    private static @Nullable Void failed(List<ReceivedMessage> messages, Throwable failure) {
        // A batch that fails with FailedItems or ClaimLostException has an outcome for each message that the handler
        // got. So the exception is stored only for the messages that the handler did not get.
        boolean isOfSome =
                Causes.of(failure).anyMatch(each -> each instanceof FailedItems || each instanceof ClaimLostException);
        messages.stream()
                .map(ReceivedMessage::delivery)
                .filter(delivery -> !isOfSome || !delivery.wasCalled())
                .forEach(delivery -> delivery.attempt().failed(Causes.root(failure)));
        log.debug("Handling {} failed; a later line names the next attempt", messages, PrintableException.of(failure));
        return null;
    }

    /**
     * Claims keys, and returns the messages that may be handled. A stopping listener may already have returned some
     * messages to the queue. These messages are left out, and so are the later messages of their FIFO groups.
     */
    private List<Message<Object>> admitted(Collection<Message<Object>> messages) {
        Map<Delivery, Message<Object>> all = new LinkedHashMap<>();
        messages.forEach(message -> all.put(ReceivedMessage.require(message).delivery(), message));
        List<Delivery> deliveries = List.copyOf(all.keySet());
        Boundary.guard(
                "A handler's thread",
                () -> {
                    if (deliveries.stream().allMatch(Delivery::isHeldBack)) {
                        all.clear();
                    } else if (deliveries.stream()
                            .noneMatch(delivery -> delivery.attempt().isTransactional())) {
                        engine.pipeline().claim(deliveries).join();
                        all.keySet().retainAll(engine.pipeline().admit(deliveries));
                    }
                },
                crash -> {
                    engine.deliveries().abandon(deliveries);
                    all.clear();
                });
        return List.copyOf(all.values());
    }

    @Override
    protected CompletableFuture<Void> doEmit(
            Collection<Message<Object>> messages, MessageProcessingContext<Object> context) {
        throw new UnsupportedOperationException("Messages are handed over by run");
    }
}
