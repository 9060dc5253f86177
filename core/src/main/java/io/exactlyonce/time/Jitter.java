package io.exactlyonce.time;

import java.util.concurrent.ThreadLocalRandom;

/** A source of random numbers, so that many workers do not retry or renew at the same time. */
@FunctionalInterface
public interface Jitter {

    /** Random numbers of {@link ThreadLocalRandom}. */
    Jitter RANDOM = () -> ThreadLocalRandom.current().nextDouble();

    /** Returns a new random number, from 0 inclusive to 1 exclusive. */
    double next();
}
