package io.exactlyonce.delivery;

import java.time.Duration;

/**
 * What is to become of a delivery.
 *
 * @param kind what to do
 * @param delay after which a returned message is visible again; zero for the other kinds
 */
record Disposition(Kind kind, Duration delay) {

    enum Kind {
        ACKNOWLEDGE,
        RETURN,
        /** Neither acknowledge nor return: the message may be somebody else's by now. */
        ABANDON
    }

    static final Disposition ACKNOWLEDGE = new Disposition(Kind.ACKNOWLEDGE, Duration.ZERO);
    static final Disposition ABANDON = new Disposition(Kind.ABANDON, Duration.ZERO);

    static Disposition returnAfter(Duration delay) {
        return new Disposition(Kind.RETURN, delay);
    }
}
