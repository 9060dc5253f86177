package io.exactlyonce.renewal;

import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A visibility timeout or a lease: it lasts only while it is renewed, and not beyond SQS's ceiling. Its states:
 *
 * <ul>
 *   <li>WAITING for the moment when its renewal is due;
 *   <li>UNDER_WAY: a renewal was asked for, and is not answered yet;
 *   <li>OVER: it is lost, or needed no more.
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
    private boolean kept;

    /** It is about to be ended by us: a renewal that is refused may come after that. */
    volatile boolean ending;

    /**
     * @param begun when the message was received, from which SQS's ceiling is counted
     * @param askedAt when it was asked for
     */
    Renewable(Renewer renewer, Duration length, long begun, long askedAt) {
        this.renewer = renewer;
        this.length = length;
        this.begun = begun;
        this.interval = renewer.schedule.interval(length, renewer.random.next()).toNanos();
        this.kept = renewer.schedule.enabled();
        begin(askedAt, length.toNanos(), interval);
    }

    private void begin(long askedAt, long lasting, long untilDue) {
        end = askedAt + lasting;
        due = askedAt + untilDue;
        failing = false;
    }

    /** Logs how an attempt ended, and tells the observer; {@code null} if that does not matter any more. */
    abstract void report(@Nullable Result result);

    /**
     * Gives it up if its renewal stays unanswered, or in its last moment if that is failing or not wanted: nothing can save it then,
     * and an interrupted handler has that moment to stop in.
     *
     * @return how its renewal ended if it is lost from now on
     */
    synchronized @Nullable Result expired(long now) {
        boolean isInDoubt =
                state == State.UNDER_WAY ? answerDue - now <= 0 : (failing || !kept) && isInItsLastMoment(now);
        return isInDoubt || secondsLeft(now) < 1 ? lost() : null;
    }

    private boolean isInItsLastMoment(long now) {
        return isOver(now + Math.min(length.toNanos() / NEARLY, LONGEST_LAST_MOMENT.toNanos()));
    }

    synchronized boolean isOver(long now) {
        return end - now <= 0;
    }

    /** Returns whether it goes on: it is not lost, not stopped, and not over by this JVM's clock. */
    synchronized boolean isOn() {
        return state != State.OVER && !isOver(renewer.now());
    }

    synchronized boolean isDue(long now) {
        return state == State.WAITING && kept && due - now <= 0;
    }

    /** Begins an attempt if one is due, or so nearly due that it can share another one's request; returns whether it did. */
    synchronized boolean attempt(long now) {
        // A failing one is tried densely enough: with each request of others, it would make throttling worse.
        return kept && due - now <= (failing ? 0 : length.toNanos() / NEARLY) && take(now);
    }

    /** Begins an attempt, due or not, unless another is under way or it is over for good; returns whether it did. */
    synchronized boolean take(long now) {
        if (state != State.WAITING) {
            return false;
        }
        state = State.UNDER_WAY;
        answerDue = now + Math.max(LATE_ANSWER.toNanos(), end - now);
        return true;
    }

    /** Returns how long it may last from a moment on: its length, unless the ceiling comes first. */
    Duration granted(long from) {
        Duration left = Duration.ofSeconds(secondsLeft(from));
        return left.compareTo(length) < 0 ? left : length;
    }

    /** Returns the whole seconds until the ceiling. */
    long secondsLeft(long now) {
        return Math.max(0, VisibilityWindow.CEILING.minusNanos(now - begun).toSeconds());
    }

    /** The attempt succeeded: it lasts anew. Returns how it ended; {@code null} if it was lost or stopped meanwhile. */
    synchronized @Nullable Result succeeded(long askedAt) {
        if (state != State.UNDER_WAY) {
            return null;
        }
        state = State.WAITING;
        long granted = granted(askedAt).toNanos();
        begin(askedAt, granted, Math.min(interval, granted));
        chosenByHandler = false;
        return Result.SUCCEEDED;
    }

    /** The attempt failed: the next one follows after a third of what is left. Returns what {@link #succeeded} does. */
    synchronized @Nullable Result failed() {
        if (state != State.UNDER_WAY) {
            return null;
        }
        state = State.WAITING;
        failing = true;
        long now = renewer.now();
        Duration left = Duration.ofNanos(end - now);
        due = now + renewer.schedule.retryAfter(left, renewer.random.next()).toNanos();
        return Result.FAILED;
    }

    /** It is not ours any more, which is no loss if we have just ended it ourselves. Returns what {@link #lost} does. */
    synchronized @Nullable Result refused() {
        Result lost = lost();
        return ending ? null : lost;
    }

    /** It is lost; returns how the attempt ended, which is {@code null} if it was lost or stopped before. */
    synchronized @Nullable Result lost() {
        Result lost = state == State.OVER ? null : Result.LOST;
        state = State.OVER;
        return lost;
    }

    /**
     * It lasts anew, for a time that the handler chose, also if the handler has ended since. A longer one than ours is kept
     * until it is about to end, with the lead that every renewal has; a shorter one is renewed at its half; zero ends it, for the
     * handler has made the message visible.
     */
    synchronized void chosen(long askedAt, Duration wanted) {
        notChosen();
        if (wanted.isZero()) {
            state = State.OVER;
        }
        long lasting = wanted.toNanos();
        begin(askedAt, lasting, wanted.compareTo(length) < 0 ? lasting / 2 : lasting - length.toNanos() + interval);
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

    /** From now on it is renewed, if anything is; or it is left to its end. */
    synchronized void keep(boolean wanted) {
        kept = wanted && renewer.schedule.enabled();
    }

    synchronized void end() {
        state = State.OVER;
    }
}
