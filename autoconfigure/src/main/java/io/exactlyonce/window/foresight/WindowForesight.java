package io.exactlyonce.window.foresight;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Watches the latencies of one listener on one queue, and says when its window is about to be overrun. All it learns comes
 * through {@link #record}: time goes by from call to call, so that a listener without traffic never warns.
 *
 * <p>What it keeps is bounded, some 100 KB. Thread-safe. What it has learnt is gone with the process.
 */
public final class WindowForesight {

    /** Part of the window beyond which p95 is near it: from incident reports, and the threshold of the alerts. */
    public static final double NEAR = 0.8;

    private static final double SHORTEST_SLICE_SECONDS = 1;
    private static final double LONGEST_SLICE_SECONDS = 15;

    /** A trend is told no more when there was no delivery for so long. */
    private static final double MEANINGFUL_SECONDS = 3_600;

    private final Lock lock = new ReentrantLock();
    private final Latency latency = new Latency();
    private final Share near = new Share();
    private final Share beyond = new Share();
    private final Warnings warnings = new Warnings();
    private final LatencyCounts slice = new LatencyCounts();
    private double sliceBegun;
    private double sliceTimes;
    private int sliceNear;
    private int sliceBeyond;
    private double window;
    private long origin;
    private double last;
    private boolean hasBegun;
    private Climb climb = Climb.NONE;

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
                near.forget();
                beyond.forget();
                latency.recent().forgetShares();
                sliceNear = 0;
                sliceBeyond = 0;
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
            note(seconds);
            return last - sliceBegun < sliceSeconds() ? Optional.empty() : endSlice();
        } finally {
            lock.unlock();
        }
    }

    private void note(double seconds) {
        boolean isNear = seconds > NEAR * window;
        boolean isBeyond = seconds > window;
        slice.add(seconds);
        sliceTimes += last;
        sliceNear += isNear ? 1 : 0;
        sliceBeyond += isBeyond ? 1 : 0;
        near.note(isNear);
        beyond.note(isBeyond);
    }

    private double sliceSeconds() {
        return Math.max(SHORTEST_SLICE_SECONDS, Math.min(LONGEST_SLICE_SECONDS, window / 2));
    }

    private Optional<WindowWarning> endSlice() {
        double elapsed = last - sliceBegun;
        latency.add(last, sliceTimes / slice.total(), slice, sliceNear, sliceBeyond);
        near.add(elapsed, slice.total(), sliceNear);
        beyond.add(elapsed, slice.total(), sliceBeyond);
        slice.clear();
        sliceBegun = last;
        sliceTimes = 0;
        sliceNear = 0;
        sliceBeyond = 0;
        climb = latency.climb(window);
        return warnings.judge(last, new Situation(window, latency.recent(), near, beyond, climb));
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
            // What stands still does not go on to grow.
            boolean climbs = climb.perSecond() > 0 && sinceLast < MEANINGFUL_SECONDS;
            return new Outlook(
                    duration(window),
                    Latencies.of(known()),
                    sinceLast < RecentDeliveries.SECONDS ? duration(recentP95()) : Duration.ZERO,
                    climbs ? Optional.of(duration(climb.secondsToBreach())) : Optional.empty(),
                    beyond.ofHour(),
                    beyond.grows());
        } finally {
            lock.unlock();
        }
    }

    private LatencyCounts known() {
        LatencyCounts known = new LatencyCounts();
        known.add(latency.usual());
        known.add(slice);
        return known;
    }

    /** Before the first slice has ended there is nothing but that. */
    private double recentP95() {
        return latency.recent().total() == 0
                ? slice.quantile(0.95)
                : latency.recent().p95();
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() * 1e-9;
    }

    static Duration duration(double seconds) {
        return Duration.ofNanos((long) Math.min(seconds * 1e9, Long.MAX_VALUE));
    }
}
