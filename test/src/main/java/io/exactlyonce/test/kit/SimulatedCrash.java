package io.exactlyonce.test.kit;

/**
 * Ends a handler whose worker crashed. This class is an error, so that a handler's {@code catch} of exceptions does not
 * run: a process that dies runs no {@code catch} block.
 */
public final class SimulatedCrash extends Error {

    private static final long serialVersionUID = 1;

    SimulatedCrash(Delivered delivered) {
        super("The test crashed the worker of " + delivered.name(), null, false, false);
    }
}
