package io.exactlyonce.chaos.worker;

/** A failure for which a retry would not help. */
class HopelessException extends RuntimeException {

    HopelessException() {
        super("This job can never succeed");
    }
}
