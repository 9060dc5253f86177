package io.exactlyonce.renewal;

import io.exactlyonce.renewal.RenewalObserver.Result;
import java.time.Duration;
import java.util.Optional;

/**
 * The state of what lasts only while it is renewed: a visibility window or a lease.
 *
 * <ul>
 *   <li>WAITING until the next renewal is due;
 *   <li>UNDER_WAY: a renewal was asked for, and is not answered yet;
 *   <li>LOST: over, or no longer ours;
 *   <li>STOPPED: needed no more.
 * </ul>
 *
 * <p>Its end is counted on this JVM's monotonic clock, from before the request that began or renewed it, so that it never
 * lasts longer here than where it is kept. Only a window's first end is counted from the receive's answer, since a poll
 * waits before the window begins.
 *
 * <p>Thread-safe; its monitor is never held across input or output.
 */
final class RenewalState {

    /**
     * How long the answer may take to an attempt that began at the end or after it, as happens when the whole JVM was
     * paused. It may have to open a connection first.
     */
    static final Duration LATE_ANSWER = Duration.ofSeconds(1);

    private enum State {
        WAITING,
        UNDER_WAY,
        LOST,
        STOPPED
    }

    /** What a tick finds. */
    enum Look {
        NOTHING_TO_DO,
        DUE,
        /** It is lost from now on. */
        LOST
    }

    private final RenewalSchedule schedule;
    private final RenewalTimes times;

    private State state = State.WAITING;
    private long answerDue;
    private boolean leftToItsEnd;

    /**
     * @param askedAt when the window or lease was asked for
     * @param share from 0 inclusive to 1 exclusive: this delivery's share of the jitter
     */
    RenewalState(Duration length, long askedAt, RenewalSchedule schedule, double share) {
        this.schedule = schedule;
        this.times = new RenewalTimes(length, askedAt, schedule, share);
        this.leftToItsEnd = !schedule.enabled();
    }

    Duration length() {
        return times.length();
    }

    /**
     * Returns whether a renewal is due. What has ended while its renewal is failing, stays unanswered or is not wanted is
     * lost instead: in the last case a moment earlier, since nothing can save it, and an interrupted handler has that moment
     * to stop in.
     */
    synchronized Look look(long now) {
        if (isInDoubt(now)) {
            state = State.LOST;
            return Look.LOST;
        }
        return state == State.WAITING && !leftToItsEnd && times.isDue(now) ? Look.DUE : Look.NOTHING_TO_DO;
    }

    private boolean isInDoubt(long now) {
        return switch (state) {
            case WAITING -> (leftToItsEnd && times.isInItsLastMoment(now)) || (times.isFailing() && times.isOver(now));
            case UNDER_WAY -> answerDue - now <= 0;
            case LOST, STOPPED -> false;
        };
    }

    /** Returns whether it goes on: it is not lost, not stopped, and not over by this JVM's clock. */
    synchronized boolean isOn(long now) {
        return (state == State.WAITING || state == State.UNDER_WAY) && !isOver(now);
    }

    synchronized boolean isOver(long now) {
        return times.isOver(now);
    }

    /** Begins an attempt if one is due, or so nearly due that it can share another one's request; returns whether it did. */
    synchronized boolean attempt(long now) {
        return !leftToItsEnd && times.isNearlyDue(now) && take(now);
    }

    /** Begins an attempt, due or not, unless another is under way or it is over for good; returns whether it did. */
    synchronized boolean take(long now) {
        if (state != State.WAITING) {
            return false;
        }
        state = State.UNDER_WAY;
        answerDue = times.endOr(now + LATE_ANSWER.toNanos());
        return true;
    }

    /**
     * The attempt succeeded: it lasts anew.
     *
     * @param granted for how long this time, at most its length
     * @return how the attempt ended; empty if the state was lost or stopped meanwhile
     */
    synchronized Optional<Result> succeeded(long askedAt, Duration granted) {
        if (state != State.UNDER_WAY) {
            return Optional.empty();
        }
        state = State.WAITING;
        times.begin(askedAt, granted);
        return Optional.of(Result.SUCCEEDED);
    }

    /** It lasts anew, for a time that the handler chose, also if the handler has ended since. */
    synchronized void chosen(long askedAt, Duration wanted) {
        if (state == State.LOST) {
            return;
        }
        if (state == State.UNDER_WAY) {
            state = State.WAITING;
        }
        times.choose(askedAt, wanted);
    }

    /** An attempt of the handler's own failed: everything stays as it was planned. */
    synchronized void notChosen() {
        if (state == State.UNDER_WAY) {
            state = State.WAITING;
        }
    }

    /** Returns whether the handler chose the end, and chose it later than a moment. */
    synchronized boolean isChosenBeyond(long moment) {
        return times.isChosenBeyond(moment);
    }

    /** It is renewed no more, but lasts until its end. */
    synchronized void leaveToItsEnd() {
        leftToItsEnd = true;
    }

    /** It is renewed again. */
    synchronized void renewAgain() {
        leftToItsEnd = !schedule.enabled();
    }

    /**
     * The attempt failed: plans the next one, or counts as lost when all have been used.
     *
     * @param random from 0 inclusive to 1 exclusive, another one for each failure
     * @return how the attempt ended; empty if the state was lost or stopped meanwhile
     */
    synchronized Optional<Result> failed(long now, double random) {
        if (state != State.UNDER_WAY) {
            return Optional.empty();
        }
        if (!times.retry(now, random)) {
            state = State.LOST;
            return Optional.of(Result.LOST);
        }
        state = State.WAITING;
        return Optional.of(Result.FAILED);
    }

    /** It is lost; returns how the attempt ended, which is empty if the state was lost or stopped before. */
    synchronized Optional<Result> lost() {
        if (state == State.LOST || state == State.STOPPED) {
            return Optional.empty();
        }
        state = State.LOST;
        return Optional.of(Result.LOST);
    }

    synchronized void stop() {
        if (state != State.LOST) {
            state = State.STOPPED;
        }
    }
}
