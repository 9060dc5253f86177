package io.exactlyonce.delivery;

import java.time.Duration;

/** The next step of a delivery that has recorded no effect. */
public sealed interface Disposition {

    /**
     * The message is to be deleted, because the key is completed already, or because the policy skips a message without
     * a key.
     */
    record Acknowledge() implements Disposition {}

    /**
     * The message is to be made visible again.
     *
     * @param delay the time until the message is visible
     */
    record Return(Duration delay) implements Disposition {}

    /**
     * The message stays invisible until the owner of its key has ended, and is then returned or deleted.
     *
     * @param leastDelay if the delivery cannot wait and is returned, the message is invisible for at least this time
     */
    record Wait(Duration leastDelay) implements Disposition {}
}
