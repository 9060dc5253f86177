package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.Mode;
import io.exactlyonce.sighting.ListenerModes;
import io.exactlyonce.visibility.VisibilityWindow;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.PropertyResolver;

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

    private static final Duration SHORTEST_TIMEOUT = Duration.ofSeconds(1);

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

    /**
     * Returns whether the listener is only observed.
     *
     * @throws InvalidListenerException if it asks for a mode that there is not
     */
    boolean isObserved(ListenerModes modes) {
        try {
            return modes.of(annotation.mode()) == Mode.OBSERVE;
        } catch (IllegalArgumentException unknown) {
            throw new InvalidListenerException(
                    method,
                    String.valueOf(unknown.getMessage()),
                    "write one of " + ListenerModes.names() + ", or leave it out for exactly-once.mode");
        }
    }

    /**
     * Returns the listener's timeout, if it has one.
     *
     * @param properties resolve {@code ${...}}
     * @throws InvalidListenerException if it is no duration, or out of bounds
     */
    @Nullable Duration timeout(PropertyResolver properties) {
        String text = properties.resolveRequiredPlaceholders(annotation.timeout());
        return text.isBlank() ? null : timeout(text.strip(), method);
    }

    private static Duration timeout(String text, Method method) {
        Duration timeout;
        try {
            timeout = DurationStyle.detectAndParse(text);
        } catch (IllegalArgumentException | ArithmeticException unreadable) {
            throw invalidTimeout(method, text, "is no duration");
        }
        if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(VisibilityWindow.CEILING) > 0) {
            throw invalidTimeout(method, text, "must be from 1s to 12h");
        }
        return timeout;
    }

    private static InvalidListenerException invalidTimeout(Method method, String text, String problem) {
        return new InvalidListenerException(
                method,
                "its timeout '%s' %s".formatted(text, problem),
                "write a number with a unit, such as 90s or 5m, or leave the timeout out");
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
