package io.exactlyonce.delivery;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/**
 * Detects results of handlers whose work may not have ended: futures, publishers, coroutines, functions that were not
 * called, and handles of running work (such as a {@link Process}). A claim must not be completed with such a result,
 * because the work is not done yet.
 *
 * <p>Types of other libraries are detected by name, because the application may not have these libraries.
 */
public final class UnfinishedWork {

    /** Types of results whose work begins only when the result is used. */
    private static final Set<Class<?>> DEFERRED =
            Set.of(Callable.class, Runnable.class, Supplier.class, BaseStream.class, Iterator.class, Spliterator.class);

    private static final Set<String> DEFERRED_BY_NAME = Set.of(
            "kotlin.Function",
            "kotlin.Lazy",
            "kotlin.sequences.Sequence",
            "scala.Function0",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
            "okhttp3.Call",
            "retrofit2.Call");

    private static final Set<Class<?>> ASYNCHRONOUS = Set.of(
            Future.class,
            CompletionStage.class,
            Flow.Publisher.class,
            Flow.Subscription.class,
            Process.class,
            ProcessHandle.class);

    private static final Set<String> COROUTINES = Set.of(
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow",
            "kotlinx.coroutines.channels.ReceiveChannel",
            "kotlin.coroutines.Continuation");

    private static final Set<String> ASYNCHRONOUS_BY_NAME = Set.of(
            "org.reactivestreams.Publisher",
            "org.reactivestreams.Subscription",
            "reactor.core.Disposable",
            "io.reactivex.ObservableSource",
            "io.reactivex.SingleSource",
            "io.reactivex.MaybeSource",
            "io.reactivex.CompletableSource",
            "io.reactivex.disposables.Disposable",
            "io.reactivex.rxjava3.core.ObservableSource",
            "io.reactivex.rxjava3.core.SingleSource",
            "io.reactivex.rxjava3.core.MaybeSource",
            "io.reactivex.rxjava3.core.CompletableSource",
            "io.reactivex.rxjava3.disposables.Disposable",
            "rx.Observable",
            "rx.Single",
            "rx.Completable",
            "rx.Subscription",
            "io.smallrye.mutiny.Uni",
            "io.smallrye.mutiny.Multi",
            "io.smallrye.mutiny.subscription.Cancellable",
            "io.vavr.concurrent.Future",
            "io.vavr.concurrent.Promise",
            "io.vertx.core.Future",
            "io.vertx.core.Promise",
            "scala.concurrent.Future",
            "scala.concurrent.Promise",
            "com.twitter.util.Future",
            "cats.effect.IO",
            "zio.ZIO",
            "org.jdeferred.Promise",
            "org.jdeferred2.Promise",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "jakarta.servlet.AsyncContext",
            "jakarta.ws.rs.container.AsyncResponse",
            "software.amazon.awssdk.transfer.s3.model.Transfer");

    /** Limit of the search's depth, because a collection or a generic type may contain itself. */
    private static final int MOST_LEVELS = 8;

    /** Remembers the answer of {@link #is(Class)} for each class. */
    private static final ClassValue<Boolean> KNOWN = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return is(type, UnfinishedWork::isAsynchronousKind) || isDeferred(type);
        }
    };

    private UnfinishedWork() {}

    /**
     * Returns whether a handler's work may still be going on after the handler has returned an object of this class.
     */
    public static boolean is(Class<?> type) {
        return KNOWN.get(type);
    }

    /** Returns whether a result of this class is a Kotlin coroutine. */
    public static boolean isCoroutine(Class<?> type) {
        return is(type, kind -> COROUTINES.contains(kind.getName()));
    }

    /** Returns whether the work behind a result of this class begins only when the result is used. */
    public static boolean isDeferred(Class<?> type) {
        return is(type, UnfinishedWork::isDeferredKind)
                && !is(type, UnfinishedWork::isAsynchronousKind)
                && !isValue(type);
    }

    /**
     * Returns true for collections and enums. They count as values, although some are also of a type that can defer
     * work: Spring Data's {@code Page} is a {@link Supplier}.
     */
    private static boolean isValue(Class<?> type) {
        return Iterable.class.isAssignableFrom(type) || Enum.class.isAssignableFrom(type);
    }

    private static boolean isAsynchronousKind(Class<?> kind) {
        return ASYNCHRONOUS.contains(kind)
                || ASYNCHRONOUS_BY_NAME.contains(kind.getName())
                || COROUTINES.contains(kind.getName());
    }

    private static boolean isDeferredKind(Class<?> kind) {
        return DEFERRED.contains(kind) || DEFERRED_BY_NAME.contains(kind.getName());
    }

    private static boolean is(Class<?> type, Predicate<Class<?>> kind) {
        if (kind.test(type)) {
            return true;
        }
        for (Class<?> parent : type.getInterfaces()) {
            if (is(parent, kind)) {
                return true;
            }
        }
        return type.getSuperclass() != null && is(type.getSuperclass(), kind);
    }

    /**
     * Searches the declared type of a result for unfinished work. Also searches:
     * <ul>
     * <li>type arguments, also those of supertypes
     * <li>the components of an array
     * <li>the fields of the application's final classes (for example records)
     * </ul>
     *
     * @return the first class of unfinished work; {@code null} if there is none
     */
    public static @Nullable Class<?> in(ResolvableType type) {
        return in(type, new HashSet<>(), 0);
    }

    private static @Nullable Class<?> in(ResolvableType type, Set<ResolvableType> seen, int level) {
        Class<?> raw = type.toClass();
        if (is(raw)) {
            return raw;
        }
        if (level == MOST_LEVELS || raw == Object.class || raw.isPrimitive() || !seen.add(type)) {
            return null;
        }
        if (raw.isArray()) {
            return in(type.getComponentType(), seen, level + 1);
        }
        List<ResolvableType> parts = new ArrayList<>(List.of(type.getGenerics()));
        for (ResolvableType parent : type.getInterfaces()) {
            if (!isValue(raw) || !isDeferred(parent.toClass())) {
                parts.add(parent);
            }
        }
        parts.add(type.getSuperType());
        for (ResolvableType part : parts) {
            Class<?> found = in(part, seen, level + 1);
            if (found != null) {
                return found;
            }
        }
        return inFields(type, raw, seen, level);
    }

    /**
     * Searches the fields of the application's final classes. Other classes are left out, because the result may be of
     * a subclass with other fields.
     */
    private static @Nullable Class<?> inFields(ResolvableType type, Class<?> raw, Set<ResolvableType> seen, int level) {
        if (!Modifier.isFinal(raw.getModifiers()) || raw.getClassLoader() == null) {
            return null;
        }
        for (Field field : fields(raw)) {
            if (!Modifier.isStatic(field.getModifiers())) {
                Class<?> found = in(ResolvableType.forField(field, type), seen, level + 1);
                // Deferred work in a field (for example a supplier) is ignored, because the object may use it
                // internally.
                if (found != null && !isDeferred(found)) {
                    return found;
                }
            }
        }
        return null;
    }

    private static List<Field> fields(Class<?> type) {
        List<Field> fields = new ArrayList<>();
        try {
            ReflectionUtils.doWithLocalFields(type, fields::add);
        } catch (IllegalStateException absent) {
            // The class of a field may be missing from the class path, if the application does not use the field.
            return List.of();
        }
        return fields;
    }

    /**
     * Searches a result for unfinished work. Also searches inside an {@link Optional}, an array, and a collection or
     * map of the JDK.
     *
     * @return the class of the unfinished work; {@code null} if there is none
     */
    public static @Nullable Class<?> in(@Nullable Object result) {
        try {
            return in(result, 0);
        } catch (RuntimeException changing) {
            // The search fails if another thread changes a collection of the result. The result is then accepted, so
            // that the claim can be completed.
            return null;
        }
    }

    private static @Nullable Class<?> in(@Nullable Object result, int level) {
        if (result == null || level == MOST_LEVELS) {
            return null;
        }
        Class<?> type = result.getClass();
        if (is(type)) {
            return type;
        }
        if (result instanceof Optional<?> optional) {
            return in(optional.orElse(null), level + 1);
        }
        if (result instanceof Object[] array) {
            return inAny(Arrays.asList(array), level + 1);
        }
        // Collections of other libraries are not searched, because they may load their elements when they are read.
        if (type.getClassLoader() != null) {
            return null;
        }
        if (result instanceof Map<?, ?> map) {
            return inAny(map.values(), level + 1);
        }
        return result instanceof Collection<?> collection ? inAny(collection, level + 1) : null;
    }

    private static @Nullable Class<?> inAny(Collection<?> contents, int level) {
        for (Object content : contents) {
            Class<?> found = in(content, level);
            if (found != null) {
                return found;
            }
        }
        return null;
    }
}
