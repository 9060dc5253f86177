package io.exactlyonce.renewal;

import java.time.Duration;

/** When a window or lease ends, and when it is to be renewed or tried again. Not thread-safe. */
final class RenewalTimes {

    /** One twentieth of the length counts as nearly due, and as its last moment. */
    private static final int NEARLY = 20;

    private static final Duration LONGEST_LAST_MOMENT = Duration.ofSeconds(1);

    private final Duration length;
    private final RenewalSchedule schedule;
    private final double share;

    private long end;
    private long due;
    private int failures;
    private long firstFailure;
    private Duration headroom = Duration.ZERO;
    private boolean chosenByHandler;

    /**
     * @param askedAt when the window or lease was asked for
     * @param share from 0 inclusive to 1 exclusive: this delivery's share of the jitter
     */
    RenewalTimes(Duration length, long askedAt, RenewalSchedule schedule, double share) {
        this.length = length;
        this.schedule = schedule;
        this.share = share;
        begin(askedAt, length);
    }

    Duration length() {
        return length;
    }

    /** Begins anew, for its own length at most. */
    void begin(long askedAt, Duration granted) {
        begin(askedAt, granted, Math.min(interval().toNanos(), granted.toNanos()));
        chosenByHandler = false;
    }

    /**
     * Begins anew with a length that the handler chose. A longer one than ours is kept until it is about to end, with the
     * lead that every renewal has; a shorter one is renewed at its half.
     */
    void choose(long askedAt, Duration wanted) {
        Duration lead = length.minus(interval());
        begin(askedAt, wanted, (wanted.compareTo(length) < 0 ? wanted.dividedBy(2) : wanted.minus(lead)).toNanos());
        chosenByHandler = true;
    }

    private void begin(long askedAt, Duration granted, long interval) {
        end = askedAt + granted.toNanos();
        due = askedAt + interval;
        failures = 0;
    }

    private Duration interval() {
        return schedule.interval(length, share);
    }

    /** Plans the next attempt after one that failed; returns whether one is left. */
    boolean retry(long now, double random) {
        failures++;
        if (failures > schedule.retries()) {
            return false;
        }
        if (failures == 1) {
            firstFailure = now;
            headroom = Duration.ofNanos(Math.max(0, end - now));
        }
        due = firstFailure + schedule.retryAfter(failures, headroom, random).toNanos();
        return true;
    }

    boolean isFailing() {
        return failures > 0;
    }

    boolean isDue(long now) {
        return due - now <= 0;
    }

    /** Returns whether the next attempt may share the request of those that are due. The last retry waits for its own moment. */
    boolean isNearlyDue(long now) {
        return due - now <= (failures == schedule.retries() ? 0 : length.toNanos() / NEARLY);
    }

    boolean isOver(long now) {
        return end - now <= 0;
    }

    boolean isInItsLastMoment(long now) {
        long begin = end - Math.min(length.toNanos() / NEARLY, LONGEST_LAST_MOMENT.toNanos());
        return begin - now <= 0;
    }

    /** Returns whether the handler chose the end, and chose it later than a moment. */
    boolean isChosenBeyond(long moment) {
        return chosenByHandler && end - moment > 0;
    }

    /** Returns the end, or a moment if that is later. */
    long endOr(long moment) {
        return moment - end > 0 ? moment : end;
    }
}
