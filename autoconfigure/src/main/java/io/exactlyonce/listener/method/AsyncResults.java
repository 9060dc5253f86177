package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/** What methods return that end before their work does; a method whose end nobody could tell is refused. */
final class AsyncResults {

    private static final String REMEDY = "return a CompletableFuture of the work, or return when the work is done";

    private AsyncResults() {}

    /** Returns the type of an asynchronous method's results, or {@code null} if the method is none. */
    static @Nullable Type typeOf(Method method, Class<?> returned) {
        if (!CompletionStage.class.isAssignableFrom(returned)) {
            return null;
        }
        // Only types that a CompletableFuture can stand in for get here: their result is their own parameter.
        ResolvableType future = ResolvableType.forMethodReturnType(method);
        return future.hasGenerics() ? future.getGeneric(0).getType() : Object.class;
    }

    /**
     * Checks that the end of a method's work can be told.
     *
     * @param returned what the method returns, as far as its bean's class tells
     * @throws InvalidListenerException if a claim would be completed before the work is done
     */
    static void requireTellingWhenDone(Method method, Class<?> returned) {
        if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
                || AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class)) {
            throw new InvalidListenerException(
                    method, "@Async takes it to another thread, which has no delivery to claim a key for", REMEDY);
        }
        if (CompletionStage.class.isAssignableFrom(returned)) {
            requireReplaceable(method, returned);
        } else if (hidesItsEnd(returned)) {
            throw new InvalidListenerException(
                    method,
                    "it returns %s, so that its claim could be completed before its work is done"
                            .formatted(returned.getName()),
                    returned == Object.class ? "say in its return type what it returns" : REMEDY);
        }
    }

    /** Containers and callers get a future of ours, which ends when the outcome is recorded. */
    private static void requireReplaceable(Method method, Class<?> returned) {
        if (!returned.isAssignableFrom(CompletableFuture.class)) {
            throw new InvalidListenerException(
                    method,
                    "it returns %s, in whose place no other future can be handed on".formatted(returned.getName()),
                    "declare the return type as CompletableFuture or CompletionStage");
        }
    }

    private static boolean hidesItsEnd(Class<?> returned) {
        return returned == Object.class
                || Future.class.isAssignableFrom(returned)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned) != null;
    }
}
