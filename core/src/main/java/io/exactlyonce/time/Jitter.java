package io.exactlyonce.time;

import java.util.concurrent.ThreadLocalRandom;

/** Random numbers that spread retries and renewals, so that many workers do not act at the same time. */
@FunctionalInterface
public interface Jitter {

    /** Random numbers of {@link ThreadLocalRandom}. */
    Jitter RANDOM = () -> ThreadLocalRandom.current().nextDouble();

    /** Returns a new random number, from 0 inclusive to 1 exclusive. */
    double next();
}
