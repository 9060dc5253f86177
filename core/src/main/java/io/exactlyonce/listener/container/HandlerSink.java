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
 * Runs the container's own pipeline of interceptors, listener and error handler, on its executor and with its
 * observation. Before that, on the handler's thread, it claims keys that were not claimed with their poll, and leaves
 * out messages that must not be handled.
 */
final class HandlerSink extends AbstractMessageProcessingPipelineSink<Object> {

    /** Spring Cloud AWS's logger: exceptions of the application's handlers are logged under its name. */
    private static final Logger log = LoggerFactory.getLogger(AbstractMessageProcessingPipelineSink.class);

    private final ListenerEngine engine;

    private final boolean hasOwnExecutor;
    private volatile @Nullable ExecutorConfigurationSupport containers;

    /** @param hasOwnExecutor whether the executor belongs to the application, and is not shut down by the container */
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
     * Prevents the container from interrupting its threads when it shuts its executor down. By then its message sources
     * have stopped, and a handler that has called the stop ends by itself.
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
     * Runs the pipeline when a thread is free.
     *
     * @return a future that never fails; completes when the pipeline has ended, or there is no thread for it
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
     * Keeps the failure. One line reports it later, together with the time of the next attempt. Spring Cloud AWS logs
     * the stack trace at ERROR.
     */
    private static @Nullable Void failed(List<ReceivedMessage> messages, Throwable failure) {
        // The failure may concern only some messages of a batch. Other messages that were handled already have their
        // own failure, or none.
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
     * Returns the messages that may be handled. Messages that a stopping listener has returned are left out, so that no
     * interceptor, handler or error handler sees them. They still pass through the same admission as the rest of the
     * batch, because a returned message must stop the later ones of its group.
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
