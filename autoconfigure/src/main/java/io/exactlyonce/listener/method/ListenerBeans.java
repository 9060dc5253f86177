package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceListener;
import java.lang.reflect.Method;
import java.util.Set;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/** Tells beans that listen to queues from others, before they are made. */
public final class ListenerBeans {

    private ListenerBeans() {}

    /** Returns whether beans of a type have {@link ExactlyOnceListener}s. */
    public static boolean isListener(Class<?> type) {
        if (!AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class)) {
            return false;
        }
        if (AnnotatedElementUtils.hasAnnotation(type, ExactlyOnceListener.class)) {
            return true;
        }
        Set<Method> listeners =
                MethodIntrospector.selectMethods(type, (MethodFilter) ListenerMethodReader::isExactlyOnce);
        return !listeners.isEmpty();
    }
}
