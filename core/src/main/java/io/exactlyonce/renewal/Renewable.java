package io.exactlyonce.renewal;

import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent.Result;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A visibility timeout or a lease. It ends unless it is renewed in time, and at the latest 12 h after the receive.
 * States:
 * <ul>
 * <li>WAITING: the next renewal is not requested yet;
 * <li>IN_PROGRESS: a renewal was requested, and is not answered yet;
 * <li>OVER: the visibility timeout or lease is lost, or no longer needed.
 * </ul>
 *
 * <p>The end is computed on this JVM's monotonic clock, counted from before the request is sent. So this JVM never
 * expects a later end than the server. The first visibility timeout of a message is an exception: it is counted from
 * SQS's response, because the poll may have waited at SQS for the message.
 *
 * <p>Thread-safe. No lock is held during input or output.
 */
abstract class Renewable {

    /**
     * The wait for the answer to a renewal may always last this long, because the renewal may have to open a connection
     * first. Normally, the wait may last until the visibility timeout or lease ends. But after a pause of the JVM, this
     * end may be near or past.
     */
    static final Duration LATE_ANSWER = Duration.ofSeconds(1);

    private static final long CEILING_NANOS = VisibilityWindow.CEILING.toNanos();

    /**
     * A twentieth of the length of a visibility timeout or lease:
     * <ul>
     *   <li>A renewal may start this much early, to share a request with other renewals.
     *   <li>If renewals fail, the visibility timeout or lease counts as lost this long before its end, but at most 1 s
     *       before.
     * </ul>
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
     * True after the delete of the message, or the completion of the claim, has started. A renewal may then be rejected
     * because the delete or completion has succeeded. This is not reported as a loss.
     */
    volatile boolean ending;

    /**
     * @param receivedAt when the message was received; renewals end 12 h later
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

    /** Returns whether renewals are wanted. Without them, the visibility timeout or lease expires. */
    abstract boolean isKept();

    /**
     * Logs the result of a renewal, and publishes an event. Also called if the visibility timeout or lease is lost
     * while no renewal is in progress.
     */
    abstract void report(Result result);

    /** Marks the visibility timeout or lease as lost, and reports this, if it can no longer be renewed in time. */
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
     * Returns whether the visibility timeout or lease counts as lost:
     * <ul>
     *   <li>SQS's limit of 12 h from the receive is over.
     *   <li>A renewal in progress was not answered in time.
     *   <li>The end is less than a moment away, and the last renewal failed, or no renewal is wanted. The loss is
     *       reported now, so that the interrupted handler can stop before the end.
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

    /** Returns whether no renewal can help, because less than a second is left of the 12 h. */
    boolean isOverForGood(long now) {
        return secondsLeft(now) < 1;
    }

    private boolean isInItsLastMoment(long now) {
        return isOver(now + Math.min(length.toNanos() / NEARLY, LONGEST_LAST_MOMENT.toNanos()));
    }

    synchronized boolean isOver(long now) {
        return end - now <= 0;
    }

    /** Returns whether the visibility timeout or lease is still valid, as far as this JVM knows. */
    synchronized boolean isOn() {
        return state != State.OVER && !isOver(renewer.now());
    }

    /**
     * Marks a renewal as requested if it is due. A renewal that is nearly due is requested, too, so that it shares a
     * request.
     *
     * @return whether the caller must send a renewal
     */
    synchronized boolean attempt(long now) {
        // After a failed renewal, no further one is requested before it is due, because additional requests would make
        // throttling worse.
        return isKept() && due - now <= (failing ? 0 : length.toNanos() / NEARLY) && take(now);
    }

    /**
     * Marks a renewal as requested, even if none is due. Returns false if another renewal is in progress, or if the
     * visibility timeout or lease is over.
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
     * Returns whether a renewal still waits for its answer. Returns false if the visibility timeout or lease has ended
     * meanwhile.
     */
    synchronized boolean isInProgress() {
        return state == State.IN_PROGRESS;
    }

    /**
     * Returns the length that a renewal requests: the usual length, or the rest of the 12 h if that is shorter.
     *
     * @param from when the renewal is requested
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
     * Called with the answer to a renewal. Ignores an answer that comes after the visibility timeout or lease has
     * ended.
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
        // After a delete, SQS rejects a renewal. After a completion, the store rejects it. Such a rejection is no loss,
        // so it is not reported.
        if (answer != Result.LOST || !ending) {
            report(answer);
        }
    }

    /**
     * Records the visibility timeout that the handler chose, and plans the next renewal:
     * <ul>
     *   <li>If the handler's time is longer than the listener's visibility timeout, the renewal is due near its end.
     *       For example, if messages with a visibility timeout of 30 s are renewed after 15 s, the renewal is due 15 s
     *       before the end.
     *   <li>If the handler's time is shorter, the renewal is due after half of it.
     *   <li>If the handler's time is zero, no renewal follows, because the handler has made the message visible.
     * </ul>
     *
     * <p>The handler may have ended before this call.
     *
     * @param wanted the handler's visibility timeout; {@code null} if the handler's request failed, so that nothing
     *     changes
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

    /** Returns whether the handler chose a visibility timeout that ends after this moment. */
    synchronized boolean isChosenBeyond(long moment) {
        return chosenByHandler && end - moment > 0;
    }

    synchronized void end() {
        state = State.OVER;
    }
}
