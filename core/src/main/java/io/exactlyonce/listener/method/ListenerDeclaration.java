package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.ExactlyOnceListener;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * A listener method with its annotation. If the annotation is on the class, all {@link SqsHandler} methods of the class
 * are one listener.
 *
 * @param seen the {@link SqsListener} that Spring Cloud AWS reads. If neither the method nor the class has one
 *     directly, {@code @ExactlyOnceListener} itself contains it
 * @param shared whether the annotation is on the class
 */
record ListenerDeclaration(Method method, ExactlyOnceListener annotation, SqsListener seen, boolean shared) {

    /** Returns whether the method or class has the annotation, directly or through another annotation. */
    static boolean isAnnotated(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, ExactlyOnceListener.class);
    }

    /**
     * Finds a method's annotation. Returns {@code null} if the method is not an exactly-once listener.
     *
     * @param type the bean's class, which may have inherited the method
     * @throws InvalidListenerException if the method has both {@code @ExactlyOnceListener} and {@code @SqsHandler}, and
     *     so would listen twice
     */
    static @Nullable ListenerDeclaration find(Class<?> type, Method method) {
        boolean own = isAnnotated(method);
        boolean isHandler = AnnotatedElementUtils.hasAnnotation(method, SqsHandler.class);
        if (!own && !(isHandler && isAnnotated(type))) {
            return null;
        }
        AnnotatedElement annotated = own ? method : type;
        ListenerDeclaration found = new ListenerDeclaration(
                method, merged(annotated, ExactlyOnceListener.class), merged(annotated, SqsListener.class), !own);
        found.refuseIf(
                own && isHandler,
                "it also has @SqsHandler, so it would listen twice",
                "leave @SqsHandler off, or move @ExactlyOnceListener to the class");
        return found;
    }

    InvalidListenerException refused(String problem, String remedy) {
        return new InvalidListenerException(method, problem, remedy);
    }

    void refuseIf(boolean isUnfit, String problem, String remedy) {
        if (isUnfit) {
            throw refused(problem, remedy);
        }
    }

    private static <A extends Annotation> A merged(AnnotatedElement element, Class<A> type) {
        return Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(element, type));
    }
}
