package io.exactlyonce.delivery;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells observers of what has happened to a delivery. What is thrown then must not keep from being done what follows, as when
 * memory is used up: it is done once, and nothing else would end the delivery.
 */
public final class Telling {

    private static final Logger log = LoggerFactory.getLogger(Telling.class);

    private Telling() {}

    public static void of(Delivery delivery, Runnable telling) {
        try {
            telling.run();
        } catch (Throwable untold) {
            note(delivery, untold);
        }
    }

    private static void note(Delivery delivery, Throwable untold) {
        try {
            log.warn("What happened to {} could not be told; it goes on nevertheless", delivery, untold);
        } catch (Throwable unprintable) {
            // There is nothing left to tell it with.
        }
    }
}
