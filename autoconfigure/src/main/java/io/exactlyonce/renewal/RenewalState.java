package io.exactlyonce.renewal;

import io.exactlyonce.renewal.RenewalObserver.Result;
import java.time.Duration;
import java.util.Optional;

/**
 * The state of what lasts only while it is renewed, a visibility window or a lease: when it ends, when it is to be renewed
 * or tried again, and whether it is ours.
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

    /** One twentieth of the length counts as nearly due, and as its last moment. */
    private static final int NEARLY = 20;

    private static final Duration LONGEST_LAST_MOMENT = Duration.ofSeconds(1);

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

    private final Duration length;
    private final RenewalSchedule schedule;
    private final double share;

    private State state = State.WAITING;
    private long end;
    private long due;
    private long answerDue;
    private int failures;
    private long firstFailure;
    private Duration headroom = Duration.ZERO;
    private boolean chosenByHandler;
    private boolean leftToItsEnd;

    /**
     * @param askedAt when the window or lease was asked for
     * @param share from 0 inclusive to 1 exclusive: this delivery's share of the jitter
     */
    RenewalState(Duration length, long askedAt, RenewalSchedule schedule, double share) {
        this.length = length;
        this.schedule = schedule;
        this.share = share;
        this.leftToItsEnd = !schedule.enabled();
        begin(askedAt, length);
    }

    Duration length() {
        return length;
    }

    /** Begins anew, for its own length at most. */
    private void begin(long askedAt, Duration granted) {
        begin(askedAt, granted, Math.min(interval().toNanos(), granted.toNanos()));
        chosenByHandler = false;
    }

    private void begin(long askedAt, Duration granted, long interval) {
        end = askedAt + granted.toNanos();
        due = askedAt + interval;
        failures = 0;
    }

    private Duration interval() {
        return schedule.interval(length, share);
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
        return state == State.WAITING && !leftToItsEnd && due - now <= 0 ? Look.DUE : Look.NOTHING_TO_DO;
    }

    private boolean isInDoubt(long now) {
        return switch (state) {
            case WAITING -> (leftToItsEnd && isInItsLastMoment(now)) || (failures > 0 && isOver(now));
            case UNDER_WAY -> answerDue - now <= 0;
            case LOST, STOPPED -> false;
        };
    }

    private boolean isInItsLastMoment(long now) {
        long begin = end - Math.min(length.toNanos() / NEARLY, LONGEST_LAST_MOMENT.toNanos());
        return begin - now <= 0;
    }

    /** Returns whether it goes on: it is not lost, not stopped, and not over by this JVM's clock. */
    synchronized boolean isOn(long now) {
        return (state == State.WAITING || state == State.UNDER_WAY) && !isOver(now);
    }

    synchronized boolean isOver(long now) {
        return end - now <= 0;
    }

    /** Begins an attempt if one is due, or so nearly due that it can share another one's request; returns whether it did. */
    synchronized boolean attempt(long now) {
        return !leftToItsEnd && isNearlyDue(now) && take(now);
    }

    /** Returns whether the next attempt may share the request of those that are due. The last retry waits for its own moment. */
    private boolean isNearlyDue(long now) {
        return due - now <= (failures == schedule.retries() ? 0 : length.toNanos() / NEARLY);
    }

    /** Begins an attempt, due or not, unless another is under way or it is over for good; returns whether it did. */
    synchronized boolean take(long now) {
        if (state != State.WAITING) {
            return false;
        }
        state = State.UNDER_WAY;
        long lateAnswer = now + LATE_ANSWER.toNanos();
        answerDue = lateAnswer - end > 0 ? lateAnswer : end;
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
        begin(askedAt, granted);
        return Optional.of(Result.SUCCEEDED);
    }

    /**
     * It lasts anew, for a time that the handler chose, also if the handler has ended since. A longer one than ours is kept
     * until it is about to end, with the lead that every renewal has; a shorter one is renewed at its half.
     */
    synchronized void chosen(long askedAt, Duration wanted) {
        if (state == State.LOST) {
            return;
        }
        if (state == State.UNDER_WAY) {
            state = State.WAITING;
        }
        Duration lead = length.minus(interval());
        begin(askedAt, wanted, (wanted.compareTo(length) < 0 ? wanted.dividedBy(2) : wanted.minus(lead)).toNanos());
        chosenByHandler = true;
    }

    /** An attempt of the handler's own failed: everything stays as it was planned. */
    synchronized void notChosen() {
        if (state == State.UNDER_WAY) {
            state = State.WAITING;
        }
    }

    /** Returns whether the handler chose the end, and chose it later than a moment. */
    synchronized boolean isChosenBeyond(long moment) {
        return chosenByHandler && end - moment > 0;
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
        failures++;
        if (failures > schedule.retries()) {
            return lost();
        }
        if (failures == 1) {
            firstFailure = now;
            headroom = Duration.ofNanos(Math.max(0, end - now));
        }
        due = firstFailure + schedule.retryAfter(failures, headroom, random).toNanos();
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
