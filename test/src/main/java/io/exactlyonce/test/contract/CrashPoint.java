package io.exactlyonce.test.contract;

import java.util.concurrent.ThreadLocalRandom;

/** Where a worker dies, in the order of a delivery's steps. */
enum CrashPoint {
    BEFORE_CLAIM,
    AFTER_CLAIM,
    AFTER_EFFECT,
    /** The last renewal was granted, the completion never sent. */
    BEFORE_COMPLETION,
    /** The completion is recorded; the message comes again all the same. */
    BEFORE_ACKNOWLEDGE,
    NEVER;

    static CrashPoint random() {
        return values()[ThreadLocalRandom.current().nextInt(values().length)];
    }
}
