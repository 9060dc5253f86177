package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceSetupException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Thrown if an {@link io.exactlyonce.ExactlyOnceListener} method is invalid; fails startup. */
public final class InvalidListenerException extends ExactlyOnceSetupException {

    public InvalidListenerException(String problem, String remedy) {
        super(problem, remedy, null);
    }

    InvalidListenerException(Method method, String problem, String remedy) {
        this(method, problem, remedy, null);
    }

    InvalidListenerException(Method method, String problem, String remedy, @Nullable Throwable cause) {
        super(
                "@ExactlyOnceListener method %s: %s".formatted(ClassUtils.getQualifiedMethodName(method), problem),
                remedy,
                cause);
    }
}
