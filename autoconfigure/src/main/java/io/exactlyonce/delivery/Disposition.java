package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimRequest;
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
     * The message is to wait, invisible, and then to be returned or deleted.
     *
     * @param request how the delivery asked for the key that it wants
     * @param leastDelay for how long the message stays away at least if there is no room to wait
     * @param unanswered whether it waits until the store answers, which did not; otherwise for the holder of its key
     */
    record Await(ClaimRequest request, Duration leastDelay, boolean unanswered) implements Disposition {}
}
