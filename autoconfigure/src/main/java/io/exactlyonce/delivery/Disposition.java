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

    /** The message is to wait, invisible, and then to be returned or deleted. */
    sealed interface Await extends Disposition {

        /** Returns how the delivery asked for the key that it wants. */
        ClaimRequest request();

        /** Returns for how long the message stays away at least if there is no room to wait. */
        Duration leastDelay();

        /** Returns whether the store did not answer; if it did, the key is held elsewhere. */
        boolean unanswered();
    }

    /**
     * It waits for the holder of its key.
     *
     * @param request how it asked for the key
     * @param leastDelay for how long the message stays away at least if there is no room to wait
     */
    record AwaitKey(ClaimRequest request, Duration leastDelay) implements Await {
        @Override
        public boolean unanswered() {
            return false;
        }
    }

    /**
     * It waits until the store answers.
     *
     * @param request how it asked for the key
     */
    record AwaitStore(ClaimRequest request) implements Await {
        @Override
        public Duration leastDelay() {
            return Duration.ZERO;
        }

        @Override
        public boolean unanswered() {
            return true;
        }
    }
}
