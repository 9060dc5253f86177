package io.exactlyonce.chaos.cluster;

import java.time.Duration;

/**
 * What becomes of the bytes on a wire.
 *
 * @param delay by which each portion of bytes is late, if it is slow
 */
public record Traffic(Kind kind, Duration delay) {

    /** How bytes are treated. */
    public enum Kind {
        /** They pass. */
        OPEN,
        /** They pass late. */
        SLOW,
        /** None passes, without an error on either side; all of them arrive once the wire is open again. */
        BLACK_HOLE,
        /** Requests pass, replies do not: the server acts, and the worker does not learn of it. */
        REPLIES_LOST,
        /** All connections break, new ones are refused. */
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

    /** Returns whether bytes have to wait; {@code requests} are those from the worker. */
    boolean holds(boolean requests) {
        return kind == Kind.BLACK_HOLE || (kind == Kind.REPLIES_LOST && !requests);
    }
}
