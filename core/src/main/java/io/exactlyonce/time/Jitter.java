package io.exactlyonce.time;

import java.util.concurrent.ThreadLocalRandom;

/** A source of random numbers that spread delays and renewals of many workers. */
@FunctionalInterface
public interface Jitter {

    /** By chance. */
    Jitter RANDOM = () -> ThreadLocalRandom.current().nextDouble();

    /** Returns a number from 0 inclusive to 1 exclusive, another one for each call. */
    double next();
}
