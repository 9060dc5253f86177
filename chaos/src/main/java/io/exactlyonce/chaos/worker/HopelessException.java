package io.exactlyonce.chaos.worker;

/** Trying again is of no use. */
class HopelessException extends RuntimeException {

    HopelessException() {
        super("This job can never succeed");
    }
}
