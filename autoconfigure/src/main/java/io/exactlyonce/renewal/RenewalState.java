package io.exactlyonce.renewal;

import io.exactlyonce.renewal.RenewalObserver.Result;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A span of time that lasts only while it is renewed: a visibility window or a lease. Its end is counted on this JVM's
 * monotonic clock, from before the request that began or renewed it, so that it never lasts longer here than where it is
 * kept. Only a window's first end is counted from the receive's answer, since a poll waits before the window begins.
 *
 * <p>Thread-safe; its monitor is never held across input or output.
 */
final class RenewalState {

    /**
     * How long the answer may take to an attempt that began at the span's end or after it, as happens when the whole JVM
     * was paused. It may have to open a connection first.
     */
    static final Duration LATE_ANSWER = Duration.ofSeconds(1);

    private enum State {
        WAITING,
        UNDER_WAY,
        LOST,
        STOPPED
    }

    private final RenewalSchedule schedule;
    private final RenewalTimes times;
    private final NextLook next;

    private State state = State.WAITING;
    private long answerDue;
    private boolean leftToItsEnd;

    /**
     * @param begun when the span was asked for
     * @param random from 0 inclusive to 1 exclusive: this delivery's share of the jitter
     * @param next where it announces each look that it needs, but for its first one: see {@link #announce()}
     */
    RenewalState(Duration length, long begun, RenewalSchedule schedule, double random, NextLook next) {
        this.schedule = schedule;
        this.next = next;
        this.times = new RenewalTimes(length, begun, schedule, random);
        this.leftToItsEnd = !schedule.enabled();
    }

    Duration length() {
        return times.length();
    }

    /**
     * Announces when the span will be due or in doubt, as it does itself whenever that may have become earlier. One that is
     * failing is due before it is over, or at once.
     */
    synchronized void announce() {
        if (state == State.UNDER_WAY) {
            announce(answerDue);
        } else {
            announce(leftToItsEnd ? times.lastMoment() : times.due());
        }
    }

    /** Announces a look at a moment, unless the span is over for good. */
    synchronized void announce(long moment) {
        if (state == State.WAITING || state == State.UNDER_WAY) {
            next.notAfter(moment);
        }
    }

    synchronized boolean isDue(long now) {
        return state == State.WAITING && !leftToItsEnd && times.isDue(now);
    }

    /** Tells whether the span goes on: it is not lost, not stopped, and not over by this JVM's clock. */
    synchronized boolean isOn(long now) {
        return (state == State.WAITING || state == State.UNDER_WAY) && !isOver(now);
    }

    synchronized boolean isOver(long now) {
        return times.isOver(now);
    }

    /** Begins an attempt if one is due, or nearly due so that it can share the request of others that are. */
    synchronized boolean attempt(long now) {
        return !leftToItsEnd && times.isNearlyDue(now) && take(now);
    }

    /** Begins an attempt, due or not, unless another is under way or the span is over for good. */
    synchronized boolean take(long now) {
        if (state != State.WAITING) {
            return false;
        }
        state = State.UNDER_WAY;
        // No announcement: the answer is due no earlier than the renewal was.
        answerDue = times.endOr(now + LATE_ANSWER.toNanos());
        return true;
    }

    /**
     * Begins the span anew.
     *
     * @param granted how long it lasts this time, at most its length
     * @return how the attempt ended, or {@code null} if nobody waits for it any more
     */
    synchronized @Nullable Result succeeded(long begun, Duration granted) {
        if (state != State.UNDER_WAY) {
            return null;
        }
        state = State.WAITING;
        times.begin(begun, granted);
        announce();
        return Result.SUCCEEDED;
    }

    /** Begins the span anew with a length that the handler chose, also if the handler has ended since. */
    synchronized void chosen(long begun, Duration wanted) {
        if (state == State.LOST) {
            return;
        }
        if (state == State.UNDER_WAY) {
            state = State.WAITING;
        }
        times.choose(begun, wanted);
        announce();
    }

    /** An attempt of the handler's own came to nothing: everything stays as it was planned. */
    synchronized void notChosen() {
        if (state == State.UNDER_WAY) {
            state = State.WAITING;
        }
        announce();
    }

    /** Tells whether the handler chose the end of the span, and chose it later than a moment. */
    synchronized boolean isChosenBeyond(long moment) {
        return times.isChosenBeyond(moment);
    }

    /** Renews the span no more, but lets it last until its end. */
    synchronized void leaveToItsEnd() {
        leftToItsEnd = true;
        announce();
    }

    /** Renews the span again. */
    synchronized void renewAgain() {
        leftToItsEnd = !schedule.enabled();
        announce();
    }

    /**
     * Plans the next attempt, or counts the span as lost when all have been used.
     *
     * @return how it went, or {@code null} if nobody waits for it any more
     */
    synchronized @Nullable Result failed(long now, double backoffRandom) {
        if (state != State.UNDER_WAY) {
            return null;
        }
        if (!times.retry(now, backoffRandom)) {
            state = State.LOST;
            return Result.LOST;
        }
        state = State.WAITING;
        announce();
        return Result.FAILED;
    }

    /** Ends the span; returns how the attempt ended, or {@code null} if nobody waits for it any more. */
    synchronized @Nullable Result lost() {
        if (state == State.LOST || state == State.STOPPED) {
            return null;
        }
        state = State.LOST;
        return Result.LOST;
    }

    /**
     * Loses the span if it has ended while its renewal is failing, stays unanswered or is not wanted. In the last case it
     * is lost a moment earlier, since nothing can save it: an interrupted handler has that moment to stop in.
     */
    synchronized boolean loseIfInDoubt(long now) {
        boolean failing = state == State.WAITING && times.isFailing() && times.isOver(now);
        boolean ended = state == State.WAITING && leftToItsEnd && times.isInItsLastMoment(now);
        boolean unanswered = state == State.UNDER_WAY && answerDue - now <= 0;
        if (!failing && !ended && !unanswered) {
            return false;
        }
        state = State.LOST;
        return true;
    }

    synchronized void stop() {
        if (state != State.LOST) {
            state = State.STOPPED;
        }
    }
}
