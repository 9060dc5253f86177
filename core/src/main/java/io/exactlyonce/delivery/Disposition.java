package io.exactlyonce.delivery;

import java.time.Duration;

/** The decision on a message whose handler was not called, or whose key was parked. */
public sealed interface Disposition {

    /**
     * The message is deleted, because its key was completed before, or because the listener skips messages without a
     * key.
     */
    record Acknowledge() implements Disposition {}

    /**
     * The message is made visible again.
     *
     * @param delay how long the message stays invisible until then
     */
    record Return(Duration delay) implements Disposition {}

    /**
     * The message stays invisible while another worker owns its key.
     *
     * @param leastDelay if too many deliveries wait already, the message is made visible again instead, after this
     *     delay or later
     */
    record Wait(Duration leastDelay) implements Disposition {}
}
