package io.exactlyonce.boundary;

import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry of threads of Spring Cloud AWS, the SDK, the store or a timer into the engine. Ordinary faults are handled
 * inside. Anything that escapes is a crash, such as an {@link Error} of the virtual machine, and is treated like a
 * killed process: it is logged once, and its deliveries are abandoned. Their renewal stops, nothing is released,
 * nothing is deleted; visibility timeout and lease expire, and the next attempt is in doubt. Only permits and slots of
 * a container, which never expire, are released here.
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
     * @param crashed releases permits and slots, and abandons deliveries; runs after the crash is logged
     */
    public static void guard(Object entry, Runnable work, Consumer<Throwable> crashed) {
        try {
            work.run();
        } catch (Throwable crash) {
            log.error(
                    "{} crashed; its deliveries are abandoned until visibility timeout and lease expire", entry, crash);
            crashed.accept(crash);
        }
    }

    /** Notifies observers. An exception of one stops neither the others nor the observed work. */
    public static <O> void notifySafely(List<O> observers, Consumer<? super O> event) {
        for (O observer : observers) {
            try {
                event.accept(observer);
            } catch (RuntimeException failure) {
                log.warn(
                        "{} failed; the observed work continues",
                        observer.getClass().getName(),
                        failure);
            }
        }
    }
}
