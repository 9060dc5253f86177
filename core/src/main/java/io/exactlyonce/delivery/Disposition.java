package io.exactlyonce.delivery;

import java.time.Duration;

/** What is to become of a delivery whose effect this delivery has not recorded. */
public sealed interface Disposition {

    /** The key is completed already: the message is to be deleted. */
    record Acknowledge() implements Disposition {}

    /**
     * The message is to be made visible.
     *
     * @param delay after which it is visible again
     */
    record Return(Duration delay) implements Disposition {}

    /**
     * The message is to wait, invisible, for the holder of its key, and then to be returned or deleted.
     *
     * @param leastDelay for how long the message stays away at least if there is no room to wait
     */
    record Wait(Duration leastDelay) implements Disposition {}
}
