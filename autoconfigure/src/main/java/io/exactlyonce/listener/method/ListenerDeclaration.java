package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.ExactlyOnceListener;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Where a listener method's annotation is: on the method, perhaps as a part of an annotation of the application's own; or on its
 * class, for each of its {@link SqsHandler} methods. The methods of a class are one listener.
 *
 * @param method the handler
 * @param annotation what it says
 * @param seen what awspring sees: a plain {@link SqsListener} beside ours would win
 * @param shared whether its class has the annotation, so that several methods may share it
 */
record ListenerDeclaration(Method method, ExactlyOnceListener annotation, SqsListener seen, boolean shared) {

    /**
     * Returns a method's declaration, or {@code null} if it is no listener that claims keys.
     *
     * @param type its bean's class, which may have inherited it
     * @throws InvalidListenerException if it is declared twice
     */
    static @Nullable ListenerDeclaration find(Class<?> type, Method method) {
        ExactlyOnceListener own = annotation(method);
        boolean isHandler = AnnotatedElementUtils.hasAnnotation(method, SqsHandler.class);
        if (own != null) {
            requireOne(method, isHandler);
            return new ListenerDeclaration(method, own, seen(method), false);
        }
        ExactlyOnceListener ofClass = isHandler ? annotation(type) : null;
        return ofClass == null ? null : new ListenerDeclaration(method, ofClass, seen(type), true);
    }

    private static @Nullable ExactlyOnceListener annotation(AnnotatedElement element) {
        return AnnotatedElementUtils.findMergedAnnotation(element, ExactlyOnceListener.class);
    }

    private static SqsListener seen(AnnotatedElement element) {
        return Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(element, SqsListener.class));
    }

    private static void requireOne(Method method, boolean isHandler) {
        if (isHandler) {
            throw new InvalidListenerException(
                    method,
                    "it has @SqsHandler, too, so that it would listen twice",
                    "leave @SqsHandler off, or move @ExactlyOnceListener to the class");
        }
    }
}
