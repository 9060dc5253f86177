package io.exactlyonce.listener.observed;

import io.awspring.cloud.sqs.listener.AsyncAdapterBlockingExecutionFailedException;
import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.ListenerExecutionFailedException;
import io.awspring.cloud.sqs.listener.TaskExecutorAware;
import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.listener.message.FailureOutline;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.observed.ObservedRun;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Collection;
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
 * swallowed a failure, and told nothing where the interceptor before it has failed.
 */
final class ObservedListener<T> implements AsyncMessageListener<T>, TaskExecutorAware {

    private final AsyncMessageListener<T> original;
    private final PolledKeys<T> keys;
    private final ObservedClaims claims;
    private final BooleanSupplier tellsItsEnd;

    /** @param tellsItsEnd whether a handler that returns has done its work: asked of each, since containers may be configured later */
    ObservedListener(
            AsyncMessageListener<T> original, PolledKeys<T> keys, ObservedClaims claims, BooleanSupplier tellsItsEnd) {
        this.original = original;
        this.keys = keys;
        this.claims = claims;
        this.tellsItsEnd = tellsItsEnd;
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
        List<@Nullable ObservedRun> runs = keys.begin(messages);
        try {
            CompletableFuture<Void> end = listener.get();
            var unused = end.whenComplete((done, failure) -> ended(runs, failure));
            return end;
        } catch (RuntimeException failure) {
            ended(runs, failure);
            throw failure;
        }
    }

    /**
     * Of a batch, a handler may name what has failed: the others' effects have happened, though awspring redelivers all. Where it is
     * not known whether the work is done, the key must not be taken for completed.
     */
    private void ended(List<@Nullable ObservedRun> runs, @Nullable Throwable failure) {
        Map<Integer, Throwable> named = named(failure, runs.size());
        Throwable whole = failure == null && !tellsItsEnd.getAsBoolean()
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
        Throwable thrown = FailureOutline.causes(failure)
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
