package io.exactlyonce.test.contract;

import java.util.concurrent.ThreadLocalRandom;

/** The step of a delivery at which a worker dies. The constants have the order of the steps. */
enum CrashStep {
    BEFORE_CLAIM,
    /** The store has recorded the claim, but the worker gets no answer. */
    AFTER_CLAIM,
    BEFORE_EFFECT,
    AFTER_EFFECT,
    /** A renewal has succeeded, but the completion is never sent. */
    BEFORE_COMPLETION,
    /** The store has recorded the completion, but the worker gets no answer. */
    AFTER_COMPLETION,
    /** The completion is recorded, but the worker dies before it deletes the message, so the message is redelivered. */
    BEFORE_ACKNOWLEDGE,
    /** The handler has thrown, and has had no effect. The release is never sent. */
    BEFORE_RELEASE,
    /**
     * The handler has thrown, and has had no effect. The store has recorded the release, but the worker gets no answer.
     */
    AFTER_RELEASE,
    NEVER;

    static CrashStep random() {
        return values()[ThreadLocalRandom.current().nextInt(values().length)];
    }

    boolean handlerFails() {
        return this == BEFORE_RELEASE || this == AFTER_RELEASE;
    }

    /** Returns whether the worker dies after the effect and before the store records the completion. */
    boolean hasUnrecordedEffect() {
        return this == AFTER_EFFECT || this == BEFORE_COMPLETION;
    }
}
