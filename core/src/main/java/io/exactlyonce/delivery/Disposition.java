package io.exactlyonce.delivery;

import java.time.Duration;

/** The next step of a delivery that has not recorded an effect. */
public sealed interface Disposition {

    /** The key is completed already: the message is to be deleted. */
    record Acknowledge() implements Disposition {}

    /**
     * The message is to be made visible.
     *
     * @param delay the time after which the message is visible again
     */
    record Return(Duration delay) implements Disposition {}

    /**
     * The message waits, invisible, for the owner of its key, and is then returned or deleted.
     *
     * @param leastDelay minimum delay of the message if it cannot wait
     */
    record Wait(Duration leastDelay) implements Disposition {}
}
