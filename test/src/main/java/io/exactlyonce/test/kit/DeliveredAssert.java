package io.exactlyonce.test.kit;

import java.time.Duration;
import org.assertj.core.api.AbstractAssert;

/** Assertions about a delivery. Failures show the delivery, its outcome, its claim and its handler's exception. */
public final class DeliveredAssert extends AbstractAssert<DeliveredAssert, Delivered> {

    DeliveredAssert(Delivered delivered) {
        super(delivered, DeliveredAssert.class);
    }

    /** Verifies that the handler was called, the completion is recorded, and the message is deleted. */
    public DeliveredAssert wasHandled() {
        return has(Outcome.HANDLED).isDeleted();
    }

    /** Verifies that the message was deleted as a duplicate, and the handler was not called. */
    public DeliveredAssert wasSuppressed() {
        return has(Outcome.SUPPRESSED).isDeleted();
    }

    /** Verifies that the message has no key, and was deleted without a handler call. */
    public DeliveredAssert wasSkipped() {
        return has(Outcome.SKIPPED).isDeleted();
    }

    /** Verifies that the delivery waits for the owner of its key, or for the store. */
    public DeliveredAssert isWaiting() {
        return has(Outcome.WAITING).isNotDeleted();
    }

    /** Verifies that the key is parked. */
    public DeliveredAssert isParked() {
        return has(Outcome.PARKED).isNotDeleted();
    }

    /** Verifies that the message is redelivered, at once or after a delay. */
    public DeliveredAssert wasReturned() {
        return has(Outcome.RETURNED).isNotDeleted();
    }

    /** Verifies that the message is redelivered, after at most this delay. */
    public DeliveredAssert wasReturnedWithin(Duration longest) {
        wasReturned();
        if (actual.delay().compareTo(longest) > 0) {
            failWithMessage("Expected a delay of %s at most, but it is %s: %s", longest, actual.delay(), actual);
        }
        return this;
    }

    /** Verifies that the claim was lost, the handler's outcome was not recorded, and the message was not deleted. */
    public DeliveredAssert wasAbandoned() {
        return has(Outcome.ABANDONED).isNotDeleted();
    }

    /** Verifies that the worker crashed. */
    public DeliveredAssert hasCrashed() {
        return has(Outcome.CRASHED);
    }

    /** Verifies the outcome. */
    public DeliveredAssert has(Outcome expected) {
        isNotNull();
        if (actual.outcome() != expected) {
            failWithMessage("Expected %s, but it is %s", expected, actual);
        }
        return this;
    }

    /** Verifies that the handler was called for this delivery, and that the call was this attempt at the key. */
    public DeliveredAssert wasAttempt(int number) {
        isNotNull();
        if (actual.attempt() != number) {
            failWithMessage("Expected attempt %s, but it was %s: %s", number, actual.attempt(), actual);
        }
        return this;
    }

    /** Verifies that the handler was not called for this delivery. */
    public DeliveredAssert didNotReachItsHandler() {
        isNotNull();
        if (actual.handlerCalls() != 0) {
            failWithMessage("Expected that the handler was not called, but it was: %s", actual);
        }
        return this;
    }

    /** Verifies that the message is deleted. */
    public DeliveredAssert isDeleted() {
        isNotNull();
        if (!actual.isDeleted()) {
            failWithMessage("Expected a message that is deleted, but it is not: %s", actual);
        }
        return this;
    }

    /** Verifies that the message is not deleted. */
    public DeliveredAssert isNotDeleted() {
        isNotNull();
        if (actual.isDeleted()) {
            failWithMessage("Expected a message that is not deleted, but it is: %s", actual);
        }
        return this;
    }
}
