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
 * Watches a container's listener, for observe mode, without an effect on the listener. Messages, results and exceptions
 * are passed on unchanged, on the same thread. This class itself throws nothing.
 *
 * <p>An interceptor alone could not see how handlers end. If an error handler swallows a failure, an interceptor sees a
 * success. If an earlier interceptor fails, later interceptors are not called.
 *
 * <p>But this class is also the container's first interceptor, so that it reads keys before other interceptors change
 * the messages.
 *
 * @param unknownQueue the name under which messages are counted if their queue is not known
 * @param lease how long a claim lasts if no lease is configured
 * @param ownKeys gets a queue's URL, and throws an exception if keys of this queue must not be recorded
 * @param signalsCompletion whether a handler's work is done when the handler returns. Evaluated for each message,
 *     because the application may still change the container's configuration
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
     * Suppliers that start observations: one for each message that this thread is about to pass to the listener. The
     * map's keys are receipt handles.
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
     * Reads a message's key, but records nothing yet. The returned supplier starts the observation. If there is no
     * usable key, the supplier reports this instead. Exceptions of key expressions and converters are caught.
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

    /** Passes the executor on to the wrapped listener, which may need it to run a blocking handler. */
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
            // The cast is needed because a handler's future may have a value, although its type is declared as Void.
            // Without the cast, the lambda would cast that value to Void, and fail.
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

    /** Starts the observation of each message. The list contains {@code null} for a message that is not observed. */
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
     * Starts the observation of a message. Usually the key was read on this thread, before the interceptors. If an
     * interceptor has moved the message to another thread, the key is read now.
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
     * Records how the handler of each message ended. A batch handler may name the messages that failed. The other
     * messages then count as successful, although SQS redelivers them too. If the handler returned before its work was
     * done, no key counts as completed.
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

    /** Returns whether an exception only wraps the exception of a handler. */
    private static boolean isWrapper(Throwable thrown) {
        return thrown instanceof ListenerExecutionFailedException
                || thrown instanceof AsyncAdapterBlockingExecutionFailedException
                || thrown instanceof CompletionException
                || thrown instanceof ExecutionException;
    }
}
