package io.exactlyonce.delivery.waiting;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;

/** The pauses after probes that were not answered: each twice as long as the one before, up to a bound. Not thread-safe. */
final class ProbePauses {

    /** More cannot matter: the pauses have reached their bound by then. */
    private static final int MOST_DOUBLINGS = 16;

    private final Duration first;
    private final Duration longest;
    private final NanoClock clock;

    private int begun;
    private long notBefore;

    ProbePauses(Duration first, Duration longest, NanoClock clock) {
        this.first = first;
        this.longest = longest;
        this.clock = clock;
    }

    /** Returns whether the last pause is over, or there was none since {@link #reset()}. */
    boolean areOver() {
        return begun == 0 || clock.nanoTime() - notBefore >= 0;
    }

    /** Begins the next pause, and returns its length. */
    Duration begin() {
        Duration doubled = first.multipliedBy(1L << Math.min(begun, MOST_DOUBLINGS));
        Duration pause = doubled.compareTo(longest) < 0 ? doubled : longest;
        begun++;
        notBefore = clock.nanoTime() + pause.toNanos();
        return pause;
    }

    /** Returns how many pauses have begun since {@link #reset()}. */
    int begun() {
        return begun;
    }

    /** The probe was answered: the next one that is not has the first pause again. */
    void reset() {
        begun = 0;
    }
}
