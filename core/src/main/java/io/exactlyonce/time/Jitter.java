package io.exactlyonce.time;

import java.util.concurrent.ThreadLocalRandom;

/** What spreads delays and renewals of many workers, so that they do not all come at once. */
@FunctionalInterface
public interface Jitter {

    /** By chance. */
    Jitter RANDOM = () -> ThreadLocalRandom.current().nextDouble();

    /** Returns a number from 0 inclusive to 1 exclusive, another one for each call. */
    double next();
}
