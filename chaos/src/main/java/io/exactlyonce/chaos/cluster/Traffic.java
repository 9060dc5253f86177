package io.exactlyonce.chaos.cluster;

import java.time.Duration;

/**
 * The treatment of a wire's bytes.
 *
 * @param delay the delay of each portion of bytes, if the wire is slow
 */
public record Traffic(Kind kind, Duration delay) {

    /** The kind of treatment. */
    public enum Kind {
        /** Bytes pass. */
        OPEN,
        /** Bytes pass late. */
        SLOW,
        /** No bytes pass, and neither side gets an error. All bytes arrive as soon as the wire is open again. */
        BLACK_HOLE,
        /** Requests pass, and replies do not. The server acts, but the worker does not receive the result. */
        REPLIES_LOST,
        /** All connections break, and new connections are refused. */
        CUT
    }

    public static Traffic open() {
        return of(Kind.OPEN);
    }

    public static Traffic of(Kind kind) {
        return new Traffic(kind, Duration.ZERO);
    }

    public static Traffic slow(Duration delay) {
        return new Traffic(Kind.SLOW, delay);
    }

    /**
     * Returns whether bytes must wait.
     *
     * @param requests true for bytes from the worker
     */
    boolean holds(boolean requests) {
        return kind == Kind.BLACK_HOLE || (kind == Kind.REPLIES_LOST && !requests);
    }
}
