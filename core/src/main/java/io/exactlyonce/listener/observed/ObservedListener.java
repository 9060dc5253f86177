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
 * Wraps a container's listener, and changes nothing: the same messages on the same thread, the same future, the same
 * exceptions. Whatever is wrong with a message, the wrapper throws nothing.
 *
 * <p>The outcome of a handler is observed here, and not by an interceptor. If an error handler swallows a failure, an
 * interceptor gets a success. If an earlier interceptor fails, a later one gets nothing.
 *
 * <p>Keys are read by the container's first interceptor, from messages as they were polled, like in enforce mode.
 *
 * @param unknownQueue for messages whose queue is not known
 * @param lease the claims' lease, unless leases are configured
 * @param ownKeys throws if the keys of a queue, by its URL, must not be recorded
 * @param signalsCompletion whether the work of a handler has ended when the handler returns; called for each
 *     message, because containers may be configured later
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
     * Starts of observed runs, by receipt handle: one for each message that this thread is passing to its listener.
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
     * Returns how to start the run of a message. Its key is read safely, because key expressions and converters are the
     * application's. In a queue whose keys are not recorded, no key is usable.
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

    /** Passes the executor on, because Spring Cloud AWS's adapter of a blocking listener may change threads. */
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
            // A handler's future may have another type than the container's listener expects.
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

    /** Returns the run of each message; {@code null} for one that is not observed. */
    private List<@Nullable ObservedRun> begin(Collection<Message<T>> messages) {
        Map<String, Supplier<@Nullable ObservedRun>> known = POLLED.get();
        POLLED.remove();
        List<@Nullable ObservedRun> runs = new ArrayList<>(messages.size());
        for (Message<T> message : messages) {
            runs.add(begin(message, known == null ? Map.of() : known));
        }
        return runs;
    }

    /** Starts a run. Reads the key only now if an interceptor has changed the thread. */
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
     * Reports the ends of runs. A batch handler may name failed messages: the effects of the others have happened,
     * although SQS redelivers all. If it is unknown whether the work has ended, the key does not count as completed.
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

    /** Returns whether Spring Cloud AWS or a future has wrapped a handler's exception. */
    private static boolean isWrapper(Throwable thrown) {
        return thrown instanceof ListenerExecutionFailedException
                || thrown instanceof AsyncAdapterBlockingExecutionFailedException
                || thrown instanceof CompletionException
                || thrown instanceof ExecutionException;
    }
}
