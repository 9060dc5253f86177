package io.exactlyonce.chaos.history;

import java.util.List;

/**
 * What would be a breach if a fault did not explain it, in a way that the guarantees speak of.
 *
 * @param key the key that it happened to
 * @param events what happened, in its order
 */
public record ExplainedAnomaly(Cause cause, String key, List<Event> events) {

    /** Why it is no breach. */
    public enum Cause {

        /**
         * An attempt lost its worker or its claim between effect and completion, and the next one knew: it is
         * in doubt.
         */
        REPEATED_IN_DOUBT,

        /** The database forgot what it had committed: it failed over to an asynchronous replica. */
        FORGOTTEN_BY_FAILOVER,

        /**
         * An operator was told that its release did not count, although it did: the reply was lost, the key was claimed again, and
         * DynamoDB's client repeated the release (D4).
         */
        RELEASE_TOLD_AS_LOST
    }

    public ExplainedAnomaly {
        events = List.copyOf(events);
    }
}
