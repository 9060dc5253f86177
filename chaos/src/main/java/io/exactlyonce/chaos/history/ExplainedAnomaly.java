package io.exactlyonce.chaos.history;

import java.util.List;

/**
 * An anomaly that would be a breach if a fault did not explain it, in a way that the guarantees mention.
 *
 * @param key the key of the anomaly
 * @param events the events that prove it, in order
 */
public record ExplainedAnomaly(Cause cause, String key, List<Event> events) {

    /** Why the anomaly is no breach. */
    public enum Cause {

        /**
         * An attempt lost its worker or its claim between effect and completion. The next attempt knew this, because
         * its key was in doubt.
         */
        REPEATED_IN_DOUBT,

        /** The database lost commits, because it failed over to an asynchronous replica. */
        FORGOTTEN_BY_FAILOVER,

        /**
         * An operator got the reply that its release did not count, although it did. The reply to the first write was
         * lost, the key was claimed again, and then DynamoDB's client repeated the release (D4).
         */
        RELEASE_TOLD_AS_LOST
    }

    public ExplainedAnomaly {
        events = List.copyOf(events);
    }
}
