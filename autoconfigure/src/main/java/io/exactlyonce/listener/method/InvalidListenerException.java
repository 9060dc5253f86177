package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import org.springframework.util.ClassUtils;

/** An {@link io.exactlyonce.ExactlyOnceListener} method cannot work as it is written; the application does not start. */
public final class InvalidListenerException extends RuntimeException {

    private final String problem;
    private final String remedy;

    InvalidListenerException(Method method, String problem, String remedy) {
        this("@ExactlyOnceListener method " + ClassUtils.getQualifiedMethodName(method) + ": " + problem, remedy);
    }

    InvalidListenerException(Method method, String problem, String remedy, Throwable cause) {
        this(method, problem, remedy);
        initCause(cause);
    }

    public InvalidListenerException(String problem, String remedy) {
        super(problem + "; " + remedy);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** Returns what is wrong, with the value. */
    public String problem() {
        return problem;
    }

    /** Returns what to do about it. */
    public String remedy() {
        return remedy;
    }
}
