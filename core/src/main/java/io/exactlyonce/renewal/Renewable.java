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
 *   <li>WAITING: the next renewal is not due yet;
 *   <li>IN_PROGRESS: a renewal was requested, and is not answered yet;
 *   <li>OVER: it is lost, or no longer needed.
 * </ul>
 *
 * <p>Its end is counted on this JVM's monotonic clock, from before the request that began or renewed it. So this JVM
 * never assumes a later end than the server. Only the first end of a visibility timeout is counted from the answer to
 * the receive, because a poll waits before the timeout begins.
 *
 * <p>Thread-safe; its monitor is never held across input or output.
 */
abstract class Renewable {

    /**
     * How long an attempt may take that started at the end or later, for example after a pause of the whole JVM. The
     * attempt may have to open a connection first.
     */
    static final Duration LATE_ANSWER = Duration.ofSeconds(1);

    private static final long CEILING_NANOS = VisibilityWindow.CEILING.toNanos();

    /**
     * The length divided by this number is the last moment. A renewal that is due within as much time is nearly due.
     */
    private static final int NEARLY = 20;

    private static final Duration LONGEST_LAST_MOMENT = Duration.ofSeconds(1);

    private enum State {
        WAITING,
        IN_PROGRESS,
        OVER
    }

    final Renewer renewer;
    final Duration length;
    final long receivedAt;
    private final long interval;
    private State state = State.WAITING;
    private long end;
    private long due;
    private long answerDue;

    private boolean failing;
    private boolean chosenByHandler;

    /** True once the engine itself ends this, so that a later rejection of a renewal is not a loss. */
    volatile boolean ending;

    /**
     * @param receivedAt when the message was received; SQS's ceiling is counted from this time
     * @param askedAt when the visibility timeout or lease was requested
     */
    Renewable(Renewer renewer, Duration length, long receivedAt, long askedAt) {
        this.renewer = renewer;
        this.length = length;
        this.receivedAt = receivedAt;
        this.interval = renewer.schedule.interval(length, renewer.random.next()).toNanos();
        begin(askedAt, length.toNanos(), interval);
    }

    private void begin(long askedAt, long lasting, long untilDue) {
        end = askedAt + lasting;
        due = askedAt + untilDue;
        failing = false;
        chosenByHandler = false;
    }

    /** Returns whether this is to be renewed. If not, it is left to expire. */
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
     * Returns whether this is lost: no renewal can help, or the renewal in progress stays unanswered. In the last
     * moment, this is also lost if renewals fail or are no longer wanted. An interrupted handler has that moment to
     * stop.
     */
    private boolean isBeyondSaving(long now) {
        if (isOverForGood(now)) {
            return true;
        }
        return state == State.IN_PROGRESS ? answerDue - now <= 0 : isInItsLastMoment(now) && (failing || !isKept());
    }

    /** Returns whether a renewal is due. */
    synchronized boolean isDue(long now) {
        return state == State.WAITING && due - now <= 0 && isKept();
    }

    /** Returns whether no renewal can help any more. */
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

    /**
     * Starts an attempt if one is due, or nearly due, so that both share a request. Returns whether an attempt started.
     */
    synchronized boolean attempt(long now) {
        // After a failure, no request is shared: this is retried often enough, and more would make throttling worse.
        return isKept() && due - now <= (failing ? 0 : length.toNanos() / NEARLY) && take(now);
    }

    /**
     * Starts an attempt, due or not, unless another attempt is in progress or no renewal can help. Returns whether it
     * started.
     */
    synchronized boolean take(long now) {
        if (state != State.WAITING) {
            return false;
        }
        state = State.IN_PROGRESS;
        answerDue = now + Math.max(LATE_ANSWER.toNanos(), end - now);
        return true;
    }

    /** Returns whether an attempt waits for its answer. Returns false if this was ended meanwhile. */
    synchronized boolean isInProgress() {
        return state == State.IN_PROGRESS;
    }

    /**
     * Returns how long this may last from a moment on: its length, or the time until the ceiling if that is shorter.
     */
    Duration granted(long from) {
        Duration left = Duration.ofSeconds(secondsLeft(from));
        return left.compareTo(length) < 0 ? left : length;
    }

    /** Returns the whole seconds until the ceiling. */
    long secondsLeft(long now) {
        return Math.max(0, TimeUnit.NANOSECONDS.toSeconds(CEILING_NANOS - (now - receivedAt)));
    }

    /** Called with the answer to an attempt. Does nothing if this was lost or stopped meanwhile. */
    void answered(Result answer, long askedAt) {
        synchronized (this) {
            if (state != State.IN_PROGRESS) {
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
        // An end by the engine itself is not a loss.
        if (answer != Result.LOST || !ending) {
            report(answer);
        }
    }

    /**
     * Starts the time anew with a length that the handler chose, even if the handler has ended since. A longer time
     * than ours is kept until shortly before its end, with the lead of every renewal. A shorter time is renewed at its
     * half. A length of zero ends the visibility timeout, because the handler has made the message visible.
     *
     * @param wanted {@code null} if the handler's own request failed: then nothing changes
     */
    synchronized void chosen(long askedAt, @Nullable Duration wanted) {
        if (state == State.IN_PROGRESS) {
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

    /** Returns whether the handler chose the end, and the end is after this moment. */
    synchronized boolean isChosenBeyond(long moment) {
        return chosenByHandler && end - moment > 0;
    }

    synchronized void end() {
        state = State.OVER;
    }
}
