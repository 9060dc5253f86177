package io.exactlyonce.test.contract;

import java.util.concurrent.ThreadLocalRandom;

/** The step of a delivery at which a worker dies. The steps are in the order of a delivery. */
enum CrashStep {
    BEFORE_CLAIM,
    /** The claim is recorded, and its answer never arrives. */
    AFTER_CLAIM,
    BEFORE_EFFECT,
    AFTER_EFFECT,
    /** The last renewal succeeded, and the completion is never sent. */
    BEFORE_COMPLETION,
    /** The completion is recorded, and its answer never arrives. */
    AFTER_COMPLETION,
    /** The completion is recorded, but the message is redelivered. */
    BEFORE_ACKNOWLEDGE,
    /** The handler failed by itself, without an effect. The release is never sent. */
    BEFORE_RELEASE,
    /** The handler failed by itself, and the release is recorded. Its answer never arrives. */
    AFTER_RELEASE,
    NEVER;

    static CrashStep random() {
        return values()[ThreadLocalRandom.current().nextInt(values().length)];
    }

    boolean handlerFails() {
        return this == BEFORE_RELEASE || this == AFTER_RELEASE;
    }

    /** Returns whether the effect happened and no completion is recorded. */
    boolean hasUnrecordedEffect() {
        return this == AFTER_EFFECT || this == BEFORE_COMPLETION;
    }
}
