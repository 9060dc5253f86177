package io.exactlyonce.time;

/** What spreads delays and renewals of many workers, so that they do not all come at once. */
@FunctionalInterface
public interface Jitter {

    /** Returns a number from 0 inclusive to 1 exclusive, another one for each call. */
    double next();
}
