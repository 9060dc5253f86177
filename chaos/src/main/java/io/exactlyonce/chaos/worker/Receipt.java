package io.exactlyonce.chaos.worker;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * The result of a handler. Its claim is about to be completed while the result is written as JSON, which is a point for
 * a kill.
 */
final class Receipt {

    private final String call;
    private final Runnable written;

    Receipt(String call, Runnable written) {
        this.call = call;
        this.written = written;
    }

    /** Reads the stored result, for a duplicate. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    static Receipt stored(String call) {
        return new Receipt(call, () -> {});
    }

    @JsonValue
    String call() {
        written.run();
        return call;
    }
}
