package io.exactlyonce.test.contract;

import java.util.concurrent.ThreadLocalRandom;

/** Where a worker dies, in the order of a delivery's steps. */
enum CrashStep {
    BEFORE_CLAIM,
    /** The claim is recorded; its answer never arrives. */
    AFTER_CLAIM,
    BEFORE_EFFECT,
    AFTER_EFFECT,
    /** The last renewal was granted, the completion never sent. */
    BEFORE_COMPLETION,
    /** The completion is recorded; its answer never arrives. */
    AFTER_COMPLETION,
    /** The completion is recorded, but the message is redelivered. */
    BEFORE_ACKNOWLEDGE,
    /** The handler has failed by itself, without an effect; the release is never sent. */
    BEFORE_RELEASE,
    /** The handler has failed by itself, and the release is recorded; its answer never arrives. */
    AFTER_RELEASE,
    NEVER;

    static CrashStep random() {
        return values()[ThreadLocalRandom.current().nextInt(values().length)];
    }

    boolean handlerFails() {
        return this == BEFORE_RELEASE || this == AFTER_RELEASE;
    }

    /** Returns whether its effect has happened, and no completion is recorded. */
    boolean hasUnrecordedEffect() {
        return this == AFTER_EFFECT || this == BEFORE_COMPLETION;
    }
}
