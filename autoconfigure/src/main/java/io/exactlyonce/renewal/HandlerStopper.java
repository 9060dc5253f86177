package io.exactlyonce.renewal;

/** Stops a handler whose claim is lost, or whose time is up. */
@FunctionalInterface
public interface HandlerStopper {

    /** Tells the handler to stop; called once. It must not block. */
    void stop();
}
