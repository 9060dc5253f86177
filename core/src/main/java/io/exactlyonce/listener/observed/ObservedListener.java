package io.exactlyonce.listener.observed;

import io.awspring.cloud.sqs.listener.AsyncAdapterBlockingExecutionFailedException;
import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.ListenerExecutionFailedException;
import io.awspring.cloud.sqs.listener.TaskExecutorAware;
import io.awspring.cloud.sqs.listener.interceptor.AsyncMessageInterceptor;
import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.listener.message.PolledMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.observed.NotObserved;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.observed.ObservedQueue;
import io.exactlyonce.observed.ObservedRun;
import io.exactlyonce.visibility.VisibilityWindow;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskExecutor;
import org.springframework.messaging.Message;

/**
 * Stands before a container's listener, and hands on what it is given, and what it gets back, as it is: the same messages on the same
 * thread, the same future, the same exceptions.
 *
 * <p>How a handler ended is seen here rather than by an interceptor, which is told that all is well where an error handler has
 * swallowed a failure, and told nothing where the interceptor before it has failed. Keys are read as the container's first interceptor,
 * of messages as they were polled, as they are where keys are claimed. Whatever is wrong with a message, nothing is thrown.
 *
 * @param unknownQueue for messages whose queue is not known
 * @param lease of claims, unless leases are configured
 * @param signalsCompletion whether a handler that returns has done its work: asked of each, since containers may be configured later
 */
record ObservedListener<T>(
        AsyncMessageListener<T> original,
        ContainerSettings settings,
        ObservedClaims claims,
        ObservedQueue unknownQueue,
        VisibilityWindow lease,
        BooleanSupplier signalsCompletion)
        implements AsyncMessageListener<T>, AsyncMessageInterceptor<T>, TaskExecutorAware {

    /** How runs begin whose messages are on their way to their listener on this thread, by receipt. */
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
            PolledMessage.fromAwspring(message)
                    .ifPresent(known -> read.put(known.source().receiptHandle(), read(message, known)));
        }
        POLLED.set(read);
    }

    /** Key expressions and converters are the application's. */
    private Supplier<@Nullable ObservedRun> read(Message<T> message, PolledMessage polled) {
        ObservedQueue queue = new ObservedQueue(unknownQueue.listener(), polled.queue());
        try {
            ObservedRun run = settings.observed(queue, message, polled, lease);
            return () -> {
                claims.begin(run);
                return run;
            };
        } catch (RuntimeException unusable) {
            return () -> {
                claims.notObserved(queue, NotObserved.KEY, unusable);
                return null;
            };
        }
    }

    /** Awspring's adapter of a listener that makes its caller wait changes threads where it has to. */
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
            var unused = end.whenComplete((done, failure) -> ended(runs, failure));
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

    /** Reads a key late where an interceptor has changed the thread. */
    private @Nullable ObservedRun begin(Message<T> message, Map<String, Supplier<@Nullable ObservedRun>> known) {
        PolledMessage polled = PolledMessage.fromAwspring(message).orElse(null);
        if (polled == null) {
            claims.notObserved(unknownQueue, NotObserved.MESSAGE, null);
            return null;
        }
        Supplier<@Nullable ObservedRun> read = known.get(polled.source().receiptHandle());
        return (read == null ? read(message, polled) : read).get();
    }

    /**
     * Of a batch, a handler may name what has failed: the others' effects have happened, though awspring redelivers all. Where it is
     * not known whether the work is done, the key must not be taken for completed.
     */
    private void ended(List<@Nullable ObservedRun> runs, @Nullable Throwable failure) {
        Map<Integer, Throwable> named = named(failure, runs.size());
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

    /**
     * Names what failed as the engine would: a batch whose handler wraps the names in an exception of its own has failed whole, for
     * a transaction may have undone the effects of all of it.
     */
    private static Map<Integer, Throwable> named(@Nullable Throwable failure, int size) {
        Throwable thrown = Causes.of(failure)
                .dropWhile(ObservedListener::isWrapper)
                .findFirst()
                .orElse(null);
        Map<Integer, Throwable> failures = thrown instanceof BatchItemFailures items ? items.failures() : Map.of();
        return failures.keySet().stream().allMatch(index -> index < size) ? failures : Map.of();
    }

    /** What awspring, a future or a proxy makes of a handler's exception. */
    private static boolean isWrapper(Throwable thrown) {
        return thrown instanceof ListenerExecutionFailedException
                || thrown instanceof AsyncAdapterBlockingExecutionFailedException
                || thrown instanceof CompletionException
                || thrown instanceof ExecutionException
                || thrown instanceof UndeclaredThrowableException
                || thrown instanceof InvocationTargetException;
    }
}
