package io.exactlyonce.visibility;

import io.exactlyonce.visibility.RenewalObserver.Result;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A span of time that lasts only while it is renewed: a visibility window or a lease. Its end is counted on this JVM's
 * monotonic clock, from before the request that began or renewed it, so that it never lasts longer here than where it is
 * kept. Only a window's first end is counted from the receive's answer, since a poll waits before the window begins.
 *
 * <p>Thread-safe; its monitor is never held across input or output.
 */
final class RenewedSpan {

    /** One twentieth of a span's length counts as nearly due. */
    private static final int NEARLY = 20;

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

    private final Duration length;
    private final RenewalSchedule schedule;
    private final double random;

    private State state = State.WAITING;
    private long end;
    private long due;
    private long answerDue;
    private int failures;
    private Duration headroom = Duration.ZERO;

    /**
     * @param begun when the span was asked for
     * @param random from 0 inclusive to 1 exclusive: this delivery's share of the jitter
     */
    RenewedSpan(Duration length, long begun, RenewalSchedule schedule, double random) {
        this.length = length;
        this.schedule = schedule;
        this.random = random;
        begin(begun, length);
    }

    private void begin(long begun, Duration granted) {
        end = begun + granted.toNanos();
        due = begun + Math.min(schedule.interval(length, random).toNanos(), granted.toNanos());
        failures = 0;
    }

    Duration length() {
        return length;
    }

    synchronized boolean isDue(long now) {
        return state == State.WAITING && due - now <= 0;
    }

    /** Tells whether the span goes on: it is not lost, not stopped, and not over by this JVM's clock. */
    synchronized boolean isOn(long now) {
        return (state == State.WAITING || state == State.UNDER_WAY) && !isOver(now);
    }

    synchronized boolean isOver(long now) {
        return end - now <= 0;
    }

    /** Begins an attempt if one is due, or nearly due so that it can share the request of others that are. */
    synchronized boolean attempt(long now) {
        if (state != State.WAITING || due - now > length.toNanos() / NEARLY) {
            return false;
        }
        state = State.UNDER_WAY;
        long late = now + LATE_ANSWER.toNanos();
        answerDue = late - end > 0 ? late : end;
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
        begin(begun, granted);
        return Result.SUCCEEDED;
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
        failures++;
        if (failures > schedule.retries()) {
            state = State.LOST;
            return Result.LOST;
        }
        if (failures == 1) {
            headroom = Duration.ofNanos(Math.max(0, end - now));
        }
        state = State.WAITING;
        due = now + schedule.backoff(failures, headroom, backoffRandom).toNanos();
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

    /** Loses the span if it has ended while its renewal is failing, or stays unanswered. */
    synchronized boolean loseIfInDoubt(long now) {
        boolean failing = state == State.WAITING && failures > 0 && isOver(now);
        boolean unanswered = state == State.UNDER_WAY && answerDue - now <= 0;
        if (!failing && !unanswered) {
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
