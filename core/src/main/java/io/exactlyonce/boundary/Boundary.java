package io.exactlyonce.boundary;

import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a thread of Spring Cloud AWS, the SDK, the store or a timer enters the engine. Ordinary faults are handled inside. What
 * escapes is a crash, such as an {@link Error} of the virtual machine, and is treated like a killed process: it is logged once, and
 * the deliveries in hand are abandoned. Their renewal stops, nothing is released, nothing is deleted; visibility timeout and lease
 * expire, and the next attempt is in doubt. Only what no expiry gives back is given back here: permits and slots of a container.
 *
 * <p>The engine catches everything here and at three other places only: the call of a handler or reconciler, the result
 * serializer, and the observers.
 */
public final class Boundary {

    private static final Logger log = LoggerFactory.getLogger(Boundary.class);

    private Boundary() {}

    /** Does the work of one tick or task. A crash is logged and costs this one only. */
    public static void guard(String entry, Runnable work) {
        guard(entry, work, crash -> {});
    }

    /**
     * Does work on deliveries, or on calls that others wait for.
     *
     * @param entry names the entry, or the delivery, in the log; its text is made only for a crash
     * @param crashed gives back permits and slots, and abandons what is in hand; runs after the crash is logged
     */
    public static void guard(Object entry, Runnable work, Consumer<Throwable> crashed) {
        try {
            work.run();
        } catch (Throwable crash) {
            log.error("{} crashed; what it had in hand is left to visibility timeout and lease", entry, crash);
            crashed.accept(crash);
        }
    }

    /** Tells observers. What one of them throws stops neither the others nor what they observe. */
    public static <O> void notifySafely(List<O> observers, Consumer<? super O> event) {
        for (O observer : observers) {
            try {
                event.accept(observer);
            } catch (RuntimeException failure) {
                log.warn(
                        "{} failed; what it observes goes on",
                        observer.getClass().getName(),
                        failure);
            }
        }
    }
}
