package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.fleet.Fleet;

/** Looks at the workers while a run goes on. */
interface Watch {

    /** A watch that does not look. */
    Watch NONE = fleet -> () -> {};

    /** Begins to look. */
    Looking begin(Fleet fleet);

    /** Goes on until it is closed. */
    interface Looking {

        /** Looks no more. */
        void close();
    }
}
