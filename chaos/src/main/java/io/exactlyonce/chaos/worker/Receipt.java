package io.exactlyonce.chaos.worker;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/** What a handler returns. While it is written as JSON, its claim is about to be completed: a point to be killed at. */
final class Receipt {

    private final String call;
    private final Runnable written;

    Receipt(String call, Runnable written) {
        this.call = call;
        this.written = written;
    }

    /** Reads what is stored, for a duplicate. */
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
