package io.exactlyonce.listener.container;

import io.exactlyonce.delivery.Delivery;
import org.springframework.context.support.AbstractApplicationContext;

/**
 * Finds handlers that have called the stop of a container, or the end of the application, and wait for it. Spring Cloud
 * AWS stops containers on other threads, and tells no component who has asked for it; the handlers' stacks do.
 */
final class StopCallers {

    private static final String AWSPRING = "io.awspring.cloud.sqs.";

    private StopCallers() {}

    /** Returns whether the thread that handles a delivery waits for a stop. */
    static boolean isStopping(Delivery delivery) {
        Thread thread = delivery.thread();
        if (thread != null) {
            for (StackTraceElement frame : thread.getStackTrace()) {
                if (isStop(frame.getClassName(), frame.getMethodName())) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isStop(String type, String method) {
        return (type.startsWith(AWSPRING) && method.equals("stop"))
                || (type.equals(AbstractApplicationContext.class.getName()) && method.equals("close"))
                || (type.equals(Runtime.class.getName()) && method.equals("exit"));
    }
}
