package io.exactlyonce.renewal;

import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent.Result;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A visibility timeout or a lease, which lasts only while it is renewed, and at most until SQS's ceiling of 12 h after
 * the receive. Its states:
 *
 * <ul>
 *   <li>WAITING: the next renewal is not due yet, or has not started;
 *   <li>IN_PROGRESS: a renewal was requested, and is not answered yet;
 *   <li>OVER: the visibility timeout or lease is lost, or no longer needed.
 * </ul>
 *
 * <p>The end is computed on this JVM's monotonic clock, from a time before the request that began or renewed the
 * visibility timeout or lease. So this JVM never assumes a later end than the server. One end is computed from the
 * answer instead: the first end of a visibility timeout, because a poll may wait at SQS before the visibility timeout
 * begins.
 *
 * <p>Thread-safe. The monitor is never held across input or output.
 */
abstract class Renewable {

    /**
     * The least time that an attempt has for its answer, because the attempt may have to open a connection first. The
     * usual limit is the end of the visibility timeout or lease. This limit may be near or past, for example after a
     * pause of the whole JVM.
     */
    static final Duration LATE_ANSWER = Duration.ofSeconds(1);

    private static final long CEILING_NANOS = VisibilityWindow.CEILING.toNanos();

    /**
     * The length divided by this number is the last moment before the end. A renewal that is nearly due may start early
     * by the same time.
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

    /**
     * True after a delete or a completion has started. A renewal that is rejected after that is no loss, because the
     * delete or completion itself ends the visibility timeout or lease.
     */
    volatile boolean ending;

    /**
     * @param receivedAt when the message was received, which is the time from which SQS's ceiling is counted
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

    /** Returns whether the visibility timeout or lease is to be renewed. Without renewal, it expires. */
    abstract boolean isKept();

    /** Logs the result of an attempt, or a loss without an attempt, and publishes an event. */
    abstract void report(Result result);

    /** Ends the visibility timeout or lease as lost if no renewal can save it. */
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
     * Returns whether the visibility timeout or lease is lost, in one of these cases:
     * <ul>
     * <li>A renewal cannot help any more.
     * <li>The attempt in progress got no answer in time.
     * <li>The end is near, and renewals fail or have stopped. The loss is reported a moment before the end, so that an
     * interrupted handler has time to stop.
     * </ul>
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

    /** Returns whether no renewal can help, because less than a second is left until SQS's ceiling. */
    boolean isOverForGood(long now) {
        return secondsLeft(now) < 1;
    }

    private boolean isInItsLastMoment(long now) {
        return isOver(now + Math.min(length.toNanos() / NEARLY, LONGEST_LAST_MOMENT.toNanos()));
    }

    synchronized boolean isOver(long now) {
        return end - now <= 0;
    }

    /**
     * Returns whether the visibility timeout or lease is neither lost nor stopped, and not expired by this JVM's clock.
     */
    synchronized boolean isOn() {
        return state != State.OVER && !isOver(renewer.now());
    }

    /**
     * Starts an attempt if a renewal is due. Also starts an attempt if a renewal is nearly due, so that it shares a
     * request with other renewals. Returns whether an attempt started.
     */
    synchronized boolean attempt(long now) {
        // After a failure, an attempt starts only when it is due. Retries are frequent enough, and more of them would
        // make throttling worse.
        return isKept() && due - now <= (failing ? 0 : length.toNanos() / NEARLY) && take(now);
    }

    /**
     * Starts an attempt, even if no renewal is due. Returns false, and starts none, if another attempt is in progress,
     * or if the visibility timeout or lease is over.
     */
    synchronized boolean take(long now) {
        if (state != State.WAITING) {
            return false;
        }
        state = State.IN_PROGRESS;
        answerDue = now + Math.max(LATE_ANSWER.toNanos(), end - now);
        return true;
    }

    /**
     * Returns whether an attempt waits for its answer. Returns false if the visibility timeout or lease ended after the
     * attempt had started.
     */
    synchronized boolean isInProgress() {
        return state == State.IN_PROGRESS;
    }

    /**
     * Returns how long the visibility timeout or lease lasts after a renewal that is requested at the given time.
     * Returns the usual length, or the time until SQS's ceiling if that time is shorter.
     */
    Duration granted(long from) {
        Duration left = Duration.ofSeconds(secondsLeft(from));
        return left.compareTo(length) < 0 ? left : length;
    }

    /** Returns the whole seconds until SQS's ceiling. */
    long secondsLeft(long now) {
        return Math.max(0, TimeUnit.NANOSECONDS.toSeconds(CEILING_NANOS - (now - receivedAt)));
    }

    /**
     * Called with the answer to an attempt. Does nothing if the visibility timeout or lease was lost or stopped before
     * the answer came.
     */
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
        // A loss is not reported if a delete or a completion has started, because the delete or completion may be the
        // reason.
        if (answer != Result.LOST || !ending) {
            report(answer);
        }
    }

    /**
     * Counts the visibility timeout anew, with the length that the handler chose. The handler may have ended before
     * this call. The next renewal depends on the chosen length:
     *
     * <ul>
     *   <li>If the chosen length is longer than the usual one, the renewal is due when as much time is left as at other
     *       renewals.
     *   <li>If the chosen length is shorter, the renewal is due after half of it.
     *   <li>If the chosen length is zero, no renewal follows, because the handler has made the message visible.
     * </ul>
     *
     * @param wanted the chosen length; {@code null} if the handler's own request failed, so that nothing changes
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

    /** Returns whether the handler chose the end of the visibility timeout, and this end is after the given moment. */
    synchronized boolean isChosenBeyond(long moment) {
        return chosenByHandler && end - moment > 0;
    }

    synchronized void end() {
        state = State.OVER;
    }
}
