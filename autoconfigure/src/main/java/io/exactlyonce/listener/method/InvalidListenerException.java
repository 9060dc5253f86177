package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceSetupException;
import java.lang.reflect.Method;
import org.springframework.util.ClassUtils;

/** An {@link io.exactlyonce.ExactlyOnceListener} method cannot work as it is written; the application does not start. */
public final class InvalidListenerException extends ExactlyOnceSetupException {

    InvalidListenerException(Method method, String problem, String remedy) {
        super(problem(method, problem), remedy, null);
    }

    InvalidListenerException(Method method, String problem, String remedy, Throwable cause) {
        super(problem(method, problem), remedy, cause);
    }

    public InvalidListenerException(String problem, String remedy) {
        super(problem, remedy, null);
    }

    private static String problem(Method method, String problem) {
        return "@ExactlyOnceListener method " + ClassUtils.getQualifiedMethodName(method) + ": " + problem;
    }
}
