package io.exactlyonce.test.kit;

/**
 * Ends a handler whose worker has crashed. An error, so that what handlers do about exceptions does not see it: a process that
 * dies runs no {@code catch} block.
 */
public final class SimulatedCrash extends Error {

    private static final long serialVersionUID = 1;

    SimulatedCrash(Delivered delivered) {
        super("The test crashed the worker of " + delivered.name(), null, false, false);
    }
}
