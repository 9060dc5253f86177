package io.exactlyonce.listener.observed;

import io.awspring.cloud.sqs.listener.AsyncAdapterBlockingExecutionFailedException;
import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.ListenerExecutionFailedException;
import io.awspring.cloud.sqs.listener.TaskExecutorAware;
import io.awspring.cloud.sqs.listener.interceptor.AsyncMessageInterceptor;
import io.exactlyonce.MissingKeyException;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.HandlerFailure;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.observed.NotObserved;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.observed.ObservedRun;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.VisibilityWindow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskExecutor;
import org.springframework.messaging.Message;

/**
 * Wraps the listener of a container, and changes nothing. The listener gets the same messages on the same thread. The
 * container gets the same future and the same exceptions. The wrapper itself throws nothing, whatever is wrong with a
 * message.
 *
 * <p>The wrapper observes a handler's outcome, because an interceptor could not. If an error handler swallows a
 * failure, an interceptor gets a success. If an earlier interceptor fails, a later interceptor is not called.
 *
 * <p>This class is also the container's first interceptor. As an interceptor, it reads keys from the messages as they
 * were polled, as enforce mode does.
 *
 * @param unknownQueue counted as the queue of messages whose queue is not known
 * @param lease the lease of claims if no lease is configured
 * @param ownKeys gets the URL of a message's queue, and throws if keys of the queue must not be recorded
 * @param signalsCompletion whether the work of a handler has ended when the handler returns; called for each message,
 *     because the container may still be configured after this object is made
 */
record ObservedListener<T>(
        AsyncMessageListener<T> original,
        ContainerSettings settings,
        ObservedClaims claims,
        ListenerQueue unknownQueue,
        VisibilityWindow lease,
        Consumer<String> ownKeys,
        BooleanSupplier signalsCompletion)
        implements AsyncMessageListener<T>, AsyncMessageInterceptor<T>, TaskExecutorAware {

    /**
     * Suppliers that start an observed run, by receipt handle. The map has one supplier for each message that this
     * thread is passing to the listener.
     */
    private static final ThreadLocal<@Nullable Map<String, Supplier<@Nullable ObservedRun>>> POLLED =
            new ThreadLocal<>();

    @Override
    public CompletableFuture<Message<T>> intercept(Message<T> message) {
        polled(List.of(message));
        return CompletableFuture.completedFuture(message);
    }

    @Override
    public CompletableFuture<Collection<Message<T>>> intercept(Collection<Message<T>> messages) {
        polled(messages);
        return CompletableFuture.completedFuture(messages);
    }

    private void polled(Collection<Message<T>> messages) {
        Map<String, Supplier<@Nullable ObservedRun>> read = new HashMap<>();
        for (Message<T> message : messages) {
            SqsMessage.fromSpringCloudAws(message)
                    .ifPresent(known -> read.put(known.source().receiptHandle(), read(message, known)));
        }
        POLLED.set(read);
    }

    /**
     * Reads the key of a message, and returns a supplier that starts the message's run. If the key is not usable, or if
     * keys of the queue must not be recorded, the supplier reports that the message is not observed. The application's
     * key expressions and converters may throw exceptions, which do not reach the caller.
     */
    private Supplier<@Nullable ObservedRun> read(Message<T> message, SqsMessage polled) {
        ListenerQueue queue = new ListenerQueue(unknownQueue.listener(), polled.queue());
        try {
            ownKeys.accept(SqsMessage.queueUrl(message));
            ObservedRun run = settings.observed(queue, message, polled, lease);
            return () -> {
                claims.begin(run);
                return run;
            };
        } catch (RuntimeException unusable) {
            NotObserved reason = unusable instanceof MissingKeyException
                    ? NotObserved.of(settings.listener().whenKeyMissing())
                    : NotObserved.KEY;
            return () -> {
                claims.notObserved(queue, reason, unusable);
                return null;
            };
        }
    }

    /**
     * Passes the executor on to the wrapped listener. Spring Cloud AWS's adapter of a blocking listener needs the
     * executor to run the listener.
     */
    @Override
    public void setTaskExecutor(TaskExecutor taskExecutor) {
        if (original instanceof TaskExecutorAware aware) {
            aware.setTaskExecutor(taskExecutor);
        }
    }

    @Override
    public CompletableFuture<Void> onMessage(Message<T> message) {
        return observed(List.of(message), () -> original.onMessage(message));
    }

    @Override
    public CompletableFuture<Void> onMessage(Collection<Message<T>> messages) {
        return observed(messages, () -> original.onMessage(messages));
    }

    private CompletableFuture<Void> observed(
            Collection<Message<T>> messages, Supplier<CompletableFuture<Void>> listener) {
        List<@Nullable ObservedRun> runs = begin(messages);
        try {
            CompletableFuture<Void> end = listener.get();
            // The result's type is left open, because a handler's future may have a result of another type than Void.
            Boundary.detach("Observing the end of a handler", ((CompletableFuture<?>) end).handle((done, failure) -> {
                        ended(runs, failure);
                        return null;
                    }));
            return end;
        } catch (RuntimeException failure) {
            ended(runs, failure);
            throw failure;
        }
    }

    /** Returns the run of each message; {@code null} for a message that is not observed. */
    private List<@Nullable ObservedRun> begin(Collection<Message<T>> messages) {
        Map<String, Supplier<@Nullable ObservedRun>> known = POLLED.get();
        POLLED.remove();
        List<@Nullable ObservedRun> runs = new ArrayList<>(messages.size());
        for (Message<T> message : messages) {
            runs.add(begin(message, known == null ? Map.of() : known));
        }
        return runs;
    }

    /**
     * Starts a run. If an interceptor has moved the message to another thread, the supplier is not found on this
     * thread, so the key is read now.
     */
    private @Nullable ObservedRun begin(Message<T> message, Map<String, Supplier<@Nullable ObservedRun>> known) {
        SqsMessage polled = SqsMessage.fromSpringCloudAws(message).orElse(null);
        if (polled == null) {
            claims.notObserved(unknownQueue, NotObserved.MESSAGE, null);
            return null;
        }
        Supplier<@Nullable ObservedRun> read = known.get(polled.source().receiptHandle());
        return (read == null ? read(message, polled) : read).get();
    }

    /**
     * Reports the ends of runs. If a batch handler has named failed messages, the other messages count as successful.
     * Their effects have happened, although SQS redelivers all messages of the batch. If it is not known whether the
     * work has ended, no key counts as completed.
     */
    private void ended(List<@Nullable ObservedRun> runs, @Nullable Throwable failure) {
        Map<Integer, Throwable> named = failure == null
                ? Map.of()
                : HandlerFailure.of(failure, ObservedListener::isWrapper).ofItems();
        Throwable whole = failure == null && !signalsCompletion.getAsBoolean()
                ? new IllegalStateException("The handler returned, and its work may be undone")
                : failure;
        for (int index = 0; index < runs.size(); index++) {
            ObservedRun run = runs.get(index);
            if (run != null) {
                claims.ended(run, named.isEmpty() ? whole : named.get(index));
            }
        }
    }

    /** Returns whether an exception is one in which Spring Cloud AWS or a future wraps the exception of a handler. */
    private static boolean isWrapper(Throwable thrown) {
        return thrown instanceof ListenerExecutionFailedException
                || thrown instanceof AsyncAdapterBlockingExecutionFailedException
                || thrown instanceof CompletionException
                || thrown instanceof ExecutionException;
    }
}
