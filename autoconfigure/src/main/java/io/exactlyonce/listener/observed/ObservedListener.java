package io.exactlyonce.listener.observed;

import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.TaskExecutorAware;
import io.awspring.cloud.sqs.listener.interceptor.AsyncMessageInterceptor;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskExecutor;
import org.springframework.messaging.Message;

/**
 * Stands before a container's listener, and hands on what it is given, and what it gets back, as it is: the same messages on the same
 * thread, the same future, the same exceptions. As the container's first interceptor it reads keys of the messages as they were
 * polled, as they are read where keys are claimed; whatever is put in a message's place after that.
 *
 * <p>How a handler ended is seen here rather than by an interceptor, which is told that all is well where an error handler has
 * swallowed a failure, and told nothing where the interceptor before it has failed.
 */
final class ObservedListener<T> implements AsyncMessageListener<T>, AsyncMessageInterceptor<T>, TaskExecutorAware {

    private final AsyncMessageListener<T> original;
    private final MessageObserver observer;

    ObservedListener(AsyncMessageListener<T> original, MessageObserver observer) {
        this.original = original;
        this.observer = observer;
    }

    /** Awspring's adapter of a listener that makes its caller wait changes threads where it has to. */
    @Override
    public void setTaskExecutor(TaskExecutor taskExecutor) {
        if (original instanceof TaskExecutorAware aware) {
            aware.setTaskExecutor(taskExecutor);
        }
    }

    @Override
    public CompletableFuture<Message<T>> intercept(Message<T> message) {
        observer.polled(List.of(message));
        return CompletableFuture.completedFuture(message);
    }

    @Override
    public CompletableFuture<Collection<Message<T>>> intercept(Collection<Message<T>> messages) {
        observer.polled(messages);
        return CompletableFuture.completedFuture(messages);
    }

    @Override
    public CompletableFuture<Void> onMessage(Message<T> message) {
        return observed(observer.begin(List.of(message)), () -> original.onMessage(message));
    }

    @Override
    public CompletableFuture<Void> onMessage(Collection<Message<T>> messages) {
        return observed(observer.begin(messages), () -> original.onMessage(messages));
    }

    private static CompletableFuture<Void> observed(HandlerCall call, Supplier<CompletableFuture<Void>> listener) {
        try {
            CompletableFuture<Void> end = listener.get();
            var unused = end.whenComplete((done, failure) -> call.ended(failure));
            return end;
        } catch (Throwable failure) {
            call.ended(failure);
            throw failure;
        }
    }

    @Override
    public CompletableFuture<Void> afterProcessing(Message<T> message, @Nullable Throwable failure) {
        observer.forget();
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> afterProcessing(Collection<Message<T>> messages, @Nullable Throwable failure) {
        observer.forget();
        return CompletableFuture.completedFuture(null);
    }
}
