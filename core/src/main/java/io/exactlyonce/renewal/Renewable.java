package io.exactlyonce.renewal;

import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent.Result;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A visibility timeout or a lease: it lasts only while it is renewed, and not beyond SQS's ceiling. Its states:
 *
 * <ul>
 *   <li>WAITING for the moment when its renewal is due;
 *   <li>UNDER_WAY: a renewal was requested, and is not answered yet;
 *   <li>OVER: it is lost, or no longer needed.
 * </ul>
 *
 * <p>Its end is counted on this JVM's monotonic clock, from before the request that began or renewed it, so that it never
 * lasts longer here than where it is kept. Only the first end of a visibility timeout is counted from the receive's answer, since
 * a poll waits before the timeout begins.
 *
 * <p>Thread-safe; its monitor is never held across input or output.
 */
abstract class Renewable {

    /**
     * The time for the answer to an attempt that started at the end or later, for example after a pause of the whole JVM. The attempt may
     * have to open a connection first.
     */
    static final Duration LATE_ANSWER = Duration.ofSeconds(1);

    private static final long CEILING_NANOS = VisibilityWindow.CEILING.toNanos();

    /** The last part of the length, one in this number, counts as nearly due, and as the last moment. */
    private static final int NEARLY = 20;

    private static final Duration LONGEST_LAST_MOMENT = Duration.ofSeconds(1);

    private enum State {
        WAITING,
        UNDER_WAY,
        OVER
    }

    final Renewer renewer;
    final Duration length;
    final long begun;
    private final long interval;
    private State state = State.WAITING;
    private long end;
    private long due;
    private long answerDue;

    private boolean failing;
    private boolean chosenByHandler;

    /** True if the engine ends it now, so that a later renewal may be rejected. */
    volatile boolean ending;

    /**
     * @param begun when the message was received, from which SQS's ceiling is counted
     * @param askedAt when it was requested
     */
    Renewable(Renewer renewer, Duration length, long begun, long askedAt) {
        this.renewer = renewer;
        this.length = length;
        this.begun = begun;
        this.interval = renewer.schedule.interval(length, renewer.random.next()).toNanos();
        begin(askedAt, length.toNanos(), interval);
    }

    private void begin(long askedAt, long lasting, long untilDue) {
        end = askedAt + lasting;
        due = askedAt + untilDue;
        failing = false;
        chosenByHandler = false;
    }

    /** Returns whether this is still renewed, or left to expire. */
    abstract boolean isKept();

    /** Logs the result of an attempt, or a loss without an attempt, and notifies the observer. */
    abstract void report(Result result);

    /** Ends this as lost if no renewal can save it. */
    void expire(long now) {
        synchronized (this) {
            if (state == State.OVER || !isBeyondSaving(now)) {
                return;
            }
            state = State.OVER;
        }
        report(Result.LOST);
    }

    /**
     * Returns whether no renewal can save it, or its renewal stays unanswered, or fails or is not wanted in its last
     * moment. An interrupted handler has that moment to stop.
     */
    private boolean isBeyondSaving(long now) {
        if (isOverForGood(now)) {
            return true;
        }
        return state == State.UNDER_WAY ? answerDue - now <= 0 : isInItsLastMoment(now) && (failing || !isKept());
    }

    /** Returns whether its renewal is due. */
    synchronized boolean isDue(long now) {
        return state == State.WAITING && due - now <= 0 && isKept();
    }

    /** Returns whether no renewal can bring it back. */
    boolean isOverForGood(long now) {
        return secondsLeft(now) < 1;
    }

    private boolean isInItsLastMoment(long now) {
        return isOver(now + Math.min(length.toNanos() / NEARLY, LONGEST_LAST_MOMENT.toNanos()));
    }

    synchronized boolean isOver(long now) {
        return end - now <= 0;
    }

    /** Returns whether this is valid: not lost, not stopped, and not expired by this JVM's clock. */
    synchronized boolean isOn() {
        return state != State.OVER && !isOver(renewer.now());
    }

    /** Starts an attempt if one is due, or nearly due, so that it shares another one's request. Returns whether it did. */
    synchronized boolean attempt(long now) {
        // A failing one does not share requests: it is retried often enough, and would make throttling worse.
        return isKept() && due - now <= (failing ? 0 : length.toNanos() / NEARLY) && take(now);
    }

    /** Starts an attempt, due or not, unless another is in progress or no renewal can help. Returns whether it did. */
    synchronized boolean take(long now) {
        if (state != State.WAITING) {
            return false;
        }
        state = State.UNDER_WAY;
        answerDue = now + Math.max(LATE_ANSWER.toNanos(), end - now);
        return true;
    }

    /** Returns whether an attempt waits for its answer. False if this was ended meanwhile. */
    synchronized boolean isUnderWay() {
        return state == State.UNDER_WAY;
    }

    /** Returns how long it may last from a moment on: its length, unless the ceiling comes first. */
    Duration granted(long from) {
        Duration left = Duration.ofSeconds(secondsLeft(from));
        return left.compareTo(length) < 0 ? left : length;
    }

    /** Returns the whole seconds until the ceiling. */
    long secondsLeft(long now) {
        return Math.max(0, TimeUnit.NANOSECONDS.toSeconds(CEILING_NANOS - (now - begun)));
    }

    /** Called with the answer to an attempt. Does nothing if this was lost or stopped meanwhile. */
    void answered(Result answer, long askedAt) {
        synchronized (this) {
            if (state != State.UNDER_WAY) {
                return;
            }
            state = answer == Result.LOST ? State.OVER : State.WAITING;
            if (answer == Result.SUCCEEDED) {
                long granted = granted(askedAt).toNanos();
                begin(askedAt, granted, Math.min(interval, granted));
            } else if (answer == Result.FAILED) {
                failing = true;
                long now = renewer.now();
                Duration left = Duration.ofNanos(end - now);
                due = now
                        + renewer.schedule
                                .retryAfter(left, renewer.random.next())
                                .toNanos();
            }
        }
        // The engine's own end is not a loss.
        if (answer != Result.LOST || !ending) {
            report(answer);
        }
    }

    /**
     * The length starts anew, for a time that the handler chose, even if the handler ended since. A longer one than ours is
     * kept until it is about to end, with the lead that every renewal has; a shorter one is renewed at its half; zero
     * ends it, because the handler has made the message visible.
     *
     * @param wanted {@code null} if the handler's own request failed: everything stays as it was planned
     */
    synchronized void chosen(long askedAt, @Nullable Duration wanted) {
        if (state == State.UNDER_WAY) {
            state = State.WAITING;
        }
        if (wanted == null) {
            return;
        }
        if (wanted.isZero()) {
            state = State.OVER;
        }
        long lasting = wanted.toNanos();
        begin(askedAt, lasting, wanted.compareTo(length) < 0 ? lasting / 2 : lasting - length.toNanos() + interval);
        chosenByHandler = true;
    }

    /** Returns whether the handler chose the end, and chose it later than a moment. */
    synchronized boolean isChosenBeyond(long moment) {
        return chosenByHandler && end - moment > 0;
    }

    synchronized void end() {
        state = State.OVER;
    }
}
