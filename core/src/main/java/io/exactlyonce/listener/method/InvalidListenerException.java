package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceSetupException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** An {@link io.exactlyonce.ExactlyOnceListener} method cannot work as it is written; the application does not start. */
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
