package io.exactlyonce.window.foresight;

import io.exactlyonce.window.foresight.WindowWarning.Kind;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Watches the latencies of one listener on one queue, and says when its window is about to be overrun. All it learns comes
 * through {@link #record}: time goes by from call to call, so that a listener without traffic never warns.
 *
 * <p>What it keeps is bounded, some 80 KB. Thread-safe. What it has learnt is gone with the process.
 */
public final class WindowForesight {

    /** Part of the window beyond which p95 is near it: from incident reports, and the threshold of the alerts. */
    public static final double NEAR = 0.8;

    /** Part of the window below which p95 has recovered: well below where it was near. */
    private static final double RECOVERED = 0.7;

    private static final double CALM_SECONDS = 600;
    private static final double SHORTEST_SLICE_SECONDS = 1;
    private static final double LONGEST_SLICE_SECONDS = 15;
    private static final double HALF_LIFE_SECONDS = 6 * 3_600;

    /** A growth is told no more when there was no delivery for so long. */
    private static final double MEANINGFUL_SECONDS = 3_600;

    /** p95 is beyond a bound if more than this share is. */
    private static final double FIVE_PERCENT = 0.05;

    /** Half of what makes p95 outlast the window. */
    private static final double MANY_STRAYS = FIVE_PERCENT / 2;

    /** Strays that come at one moment are an accident, not a growth. */
    private static final int CHUNKS_OF_STRAYS = 5;

    /** Where p95 is near the window, a growth that gets there within this time is enough. */
    private static final double HOURS_AHEAD = 2 * 3_600;

    private static final double MINUTES_AHEAD = 12 * 60;
    private static final double LONGEST_AHEAD = 3_600;

    /** Where deliveries are few, p95 is one of twenty, and known so much later. */
    private static final double DELIVERIES_AHEAD = 30;

    private final Lock lock = new ReentrantLock();
    private final LatencyHistogram usual = new LatencyHistogram();
    private final RecentLatencies recent = new RecentLatencies();
    private final Growth growth = new Growth();
    private final Set<Kind> told = EnumSet.noneOf(Kind.class);
    private LatencyHistogram slice = new LatencyHistogram();
    private ExceedanceTest near = new ExceedanceTest();
    private ExceedanceTest beyond = new ExceedanceTest();
    private double window;
    private boolean hasBegun;
    private long origin;
    private double last;
    private double sliceBegun;
    private double halvedAt;
    private double troubledAt;

    /** @param window the visibility window */
    public WindowForesight(Duration window) {
        this.window = seconds(window);
    }

    /** The window is another one from now on; latencies stay known, shares beyond it are counted anew. */
    public void windowChanged(Duration changed) {
        lock.lock();
        try {
            if (window != seconds(changed)) {
                window = seconds(changed);
                near = new ExceedanceTest();
                beyond = new ExceedanceTest();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Notes a delivery that has ended.
     *
     * @param nanos when, by a monotonic clock; what is earlier than an earlier call's counts as at that time
     * @param seconds how long it took
     * @return what must be told now
     * @throws IllegalArgumentException if the latency is negative or no number
     */
    public Optional<WindowWarning> record(long nanos, double seconds) {
        if (!(seconds >= 0)) {
            throw new IllegalArgumentException("latency (%s s) must be 0 s or longer".formatted(seconds));
        }
        lock.lock();
        try {
            if (!hasBegun) {
                origin = nanos;
                hasBegun = true;
            }
            last = Math.max(last, (nanos - origin) * 1e-9);
            slice.add(seconds);
            growth.add(last, seconds);
            near.note(seconds > NEAR * window);
            beyond.note(seconds > window);
            return last - sliceBegun < sliceSeconds() ? Optional.empty() : endSlice();
        } finally {
            lock.unlock();
        }
    }

    private double sliceSeconds() {
        return Math.max(SHORTEST_SLICE_SECONDS, Math.min(LONGEST_SLICE_SECONDS, window / 2));
    }

    private Optional<WindowWarning> endSlice() {
        double elapsed = last - sliceBegun;
        sliceBegun = last;
        recent.add(last, slice);
        usual.add(slice, 1);
        slice = new LatencyHistogram();
        if (last - halvedAt >= HALF_LIFE_SECONDS) {
            usual.halve();
            halvedAt = last;
        }
        near.endSlice(elapsed);
        beyond.endSlice(elapsed);
        return tell(kind());
    }

    private double p95() {
        return recent.all().quantile(0.95);
    }

    private Kind kind() {
        double secondsToBreach = secondsToBreach();
        boolean isHeadingThere = secondsToBreach < HOURS_AHEAD;
        if (p95() > window && (isHeadingThere || isMoreThanChance(beyond, window))) {
            return Kind.BREACHED;
        }
        if (p95() > NEAR * window && (isHeadingThere || isMoreThanChance(near, NEAR * window))) {
            return Kind.NEAR;
        }
        double between = RecentLatencies.SECONDS / recent.all().total();
        double ahead = Math.min(LONGEST_AHEAD, Math.max(MINUTES_AHEAD, DELIVERIES_AHEAD * between));
        return secondsToBreach < ahead || areStraysGrowing() ? Kind.BREACH_AHEAD : Kind.RECOVERED;
    }

    private boolean isMoreThanChance(ExceedanceTest test, double bound) {
        return test.isMoreThan(FIVE_PERCENT, recent.all().total(), recent.all().above(bound));
    }

    /** p95 leaps where a slow mode grows to a twentieth of the deliveries: the share tells before. */
    private boolean areStraysGrowing() {
        double total = recent.all().total();
        double strays = recent.all().above(window);
        boolean now = strays > MANY_STRAYS * total
                && recent.chunksAbove(window) >= CHUNKS_OF_STRAYS
                && beyond.isUnusual(total, strays);
        boolean lately = Math.max(beyond.ofHour(), beyond.ofSixHours()) > MANY_STRAYS && beyond.grows();
        return now || lately;
    }

    /** Returns when p95 reaches the window if it goes on to grow by as much per second as now; infinite if it does not grow. */
    private double secondsToBreach() {
        double perSecond = growth.perSecond();
        return perSecond == 0 ? Double.POSITIVE_INFINITY : Math.max(0, (window / p95() - 1) / perSecond);
    }

    /** Each kind once, until there was a recovery; what is worse includes what is less. */
    private Optional<WindowWarning> tell(Kind kind) {
        if (kind != Kind.RECOVERED) {
            troubledAt = last;
            boolean isNew = told.add(kind) && (kind == Kind.BREACHED || !told.contains(Kind.BREACHED));
            return isNew ? Optional.of(warning(kind)) : Optional.empty();
        }
        if (p95() > RECOVERED * window) {
            troubledAt = last;
        }
        if (told.isEmpty() || last - troubledAt < CALM_SECONDS) {
            return Optional.empty();
        }
        told.clear();
        return Optional.of(warning(Kind.RECOVERED));
    }

    private WindowWarning warning(Kind kind) {
        return new WindowWarning(kind, duration(p95()), duration(window), timeToBreach(), beyond.ofHour());
    }

    private Optional<Duration> timeToBreach() {
        double seconds = secondsToBreach();
        return Double.isInfinite(seconds) ? Optional.empty() : Optional.of(duration(seconds));
    }

    /**
     * Returns what is known.
     *
     * @param nanos now, by the clock of {@link #record}
     */
    public Outlook outlook(long nanos) {
        lock.lock();
        try {
            double sinceLast = Math.max(0, (nanos - origin) * 1e-9 - last);
            LatencyHistogram known = new LatencyHistogram();
            known.add(usual, 1);
            known.add(slice, 1);
            // Before the first slice has ended there is nothing but that.
            LatencyHistogram latest = recent.all().total() == 0 ? slice : recent.all();
            return new Outlook(
                    duration(window),
                    Latencies.of(known),
                    sinceLast < RecentLatencies.SECONDS ? duration(latest.quantile(0.95)) : Duration.ZERO,
                    // What stands still does not go on to grow.
                    sinceLast < MEANINGFUL_SECONDS ? timeToBreach() : Optional.empty(),
                    beyond.ofHour(),
                    beyond.grows());
        } finally {
            lock.unlock();
        }
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() * 1e-9;
    }

    private static Duration duration(double seconds) {
        return Duration.ofNanos((long) Math.min(seconds * 1e9, Long.MAX_VALUE));
    }
}
