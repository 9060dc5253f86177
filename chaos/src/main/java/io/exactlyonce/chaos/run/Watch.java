package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.fleet.Fleet;

/** Observes the workers during a run. */
interface Watch {

    /** A watch that observes nothing. */
    Watch NONE = fleet -> () -> {};

    /** Starts to observe. */
    Looking begin(Fleet fleet);

    /** Observes until it is closed. */
    interface Looking {

        /** Stops observing. */
        void close();
    }
}
