package io.exactlyonce.window;

import io.exactlyonce.window.WindowWarning.Kind;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Watches the latencies of one listener on one queue, and warns before they outlast its visibility timeout. All input
 * comes through {@link #record}: time passes from call to call, so that a listener without traffic never warns.
 *
 * <p>Memory is bounded, some 80 KB. Thread-safe. History ends with the process.
 */
final class LatencyForecaster {

    /** Part of the visibility timeout above which p95 is near it: the threshold of the alerts. */
    private static final double NEAR = 0.8;

    /** Part of the visibility timeout below which p95 has recovered. */
    private static final double RECOVERED = 0.7;

    private static final double CALM_SECONDS = 600;
    private static final double SHORTEST_SLICE_SECONDS = 1;
    private static final double LONGEST_SLICE_SECONDS = 15;
    private static final double HALF_LIFE_SECONDS = 6 * 3_600;

    /** Growth is no longer reported after so long without a delivery. */
    private static final double MEANINGFUL_SECONDS = 3_600;

    /** p95 is above a bound if more than this share is. */
    private static final double FIVE_PERCENT = 0.05;

    /** Half of the share at which p95 exceeds the visibility timeout. */
    private static final double MANY_OVERRUNS = FIVE_PERCENT / 2;

    /** Overruns that come at one moment are an accident, not growth. */
    private static final int CHUNKS_OF_OVERRUNS = 5;

    /** If p95 is near the visibility timeout, growth that reaches it within this time confirms the warning. */
    private static final double HOURS_AHEAD = 2 * 3_600;

    private static final double MINUTES_AHEAD = 12 * 60;
    private static final double LONGEST_AHEAD = 3_600;

    /** With few deliveries, p95 is one of twenty, and is known that much later. */
    private static final double DELIVERIES_AHEAD = 30;

    private final LatencyHistogram usual = new LatencyHistogram();
    private final RecentLatencies recent = new RecentLatencies();
    private final Growth growth = new Growth();
    private final Set<Kind> told = EnumSet.noneOf(Kind.class);
    private final long begun;
    private ExceedanceTest near = new ExceedanceTest();
    private ExceedanceTest beyond = new ExceedanceTest();
    private double window;
    private double last;
    private double judgedAt;
    private double halvedAt;
    private double troubledAt;

    /**
     * @param window the visibility timeout
     * @param nanos now, by the clock of {@link #record}
     */
    LatencyForecaster(Duration window, long nanos) {
        this.window = seconds(window);
        begun = nanos;
    }

    /** Sets a new visibility timeout. Latencies stay; shares beyond it are counted anew. */
    synchronized void windowChanged(Duration changed) {
        if (window != seconds(changed)) {
            window = seconds(changed);
            near = new ExceedanceTest();
            beyond = new ExceedanceTest();
        }
    }

    /**
     * Records a delivery that has ended.
     *
     * @param nanos when, by a monotonic clock; a time before an earlier call's counts as that call's
     * @param seconds how long the delivery took
     * @return a new warning, or {@code null}
     * @throws IllegalArgumentException if the latency is negative or not a number
     */
    synchronized @Nullable WindowWarning record(long nanos, double seconds) {
        if (!(seconds >= 0)) {
            throw new IllegalArgumentException("latency (%s s) must be 0 s or longer".formatted(seconds));
        }
        double elapsed = Math.max(0, sinceLast(nanos));
        last += elapsed;
        usual.add(seconds);
        recent.add(last, seconds);
        growth.add(last, seconds);
        near.note(elapsed, seconds > NEAR * window);
        beyond.note(elapsed, seconds > window);
        if (last - halvedAt >= HALF_LIFE_SECONDS) {
            usual.halve();
            halvedAt = last;
        }
        if (last - judgedAt < Math.max(SHORTEST_SLICE_SECONDS, Math.min(LONGEST_SLICE_SECONDS, window / 2))) {
            return null;
        }
        judgedAt = last;
        return judge();
    }

    private double sinceLast(long nanos) {
        return (nanos - begun) * 1e-9 - last;
    }

    /** Returns each kind once until there was a recovery. The worst comes first, and a breach includes the others. */
    private @Nullable WindowWarning judge() {
        double p95 = p95();
        double toBreach = secondsToBreach();
        boolean isGrowing = growth.perSecond() > 0;
        boolean areOverrunsGrowing = areOverrunsGrowing();
        boolean isBreached = p95 >= window && (isGrowing || areOverrunsGrowing || isMoreThanChance(beyond, window));
        boolean isAhead = (isGrowing && toBreach < ahead()) || areOverrunsGrowing;
        boolean isNear =
                p95 > NEAR * window && ((isGrowing && toBreach < HOURS_AHEAD) || isMoreThanChance(near, NEAR * window));
        if (isBreached || isAhead || isNear) {
            troubledAt = last;
            if (isBreached && told.add(Kind.BREACHED)) {
                return warning(Kind.BREACHED);
            }
            if (told.contains(Kind.BREACHED)) {
                return null;
            }
            if (isAhead && told.add(Kind.BREACH_AHEAD)) {
                return warning(Kind.BREACH_AHEAD);
            }
            return isNear && told.add(Kind.NEAR) ? warning(Kind.NEAR) : null;
        }
        if (p95 > RECOVERED * window) {
            troubledAt = last;
        }
        if (told.isEmpty() || last - troubledAt < CALM_SECONDS) {
            return null;
        }
        told.clear();
        return warning(Kind.RECOVERED);
    }

    private double p95() {
        return recent.all().quantiles(0.95)[0];
    }

    private double ahead() {
        double between = RecentLatencies.SECONDS / recent.all().total();
        return Math.min(LONGEST_AHEAD, Math.max(MINUTES_AHEAD, DELIVERIES_AHEAD * between));
    }

    /**
     * Returns the time until p95 reaches the visibility timeout at its present growth: 0 if it has, infinite if it does
     * not grow.
     */
    private double secondsToBreach() {
        double left = window / p95() - 1;
        return left <= 0 ? 0 : left / growth.perSecond();
    }

    private boolean isMoreThanChance(ExceedanceTest test, double bound) {
        return test.isMoreThan(FIVE_PERCENT, recent.all().total(), recent.all().above(bound));
    }

    /** If a slow mode grows to a twentieth of the deliveries, p95 leaps; its share shows that earlier. */
    private boolean areOverrunsGrowing() {
        double total = recent.all().total();
        double overruns = recent.all().above(window);
        boolean now = overruns > MANY_OVERRUNS * total
                && recent.chunksAbove(window) >= CHUNKS_OF_OVERRUNS
                && beyond.isUnusual(total, overruns);
        boolean lately = Math.max(beyond.ofHour(), beyond.ofSixHours()) > MANY_OVERRUNS && beyond.grows();
        return now || lately;
    }

    private WindowWarning warning(Kind kind) {
        return new WindowWarning(
                kind, Latencies.duration(p95()), Latencies.duration(window), timeToBreach(), beyond.ofHour());
    }

    private Optional<Duration> timeToBreach() {
        double seconds = secondsToBreach();
        return Double.isInfinite(seconds) ? Optional.empty() : Optional.of(Latencies.duration(seconds));
    }

    /**
     * Returns the forecast.
     *
     * @param nanos now, by the clock of {@link #record}
     */
    synchronized LatencyForecast forecast(long nanos) {
        double sinceLast = Math.max(0, sinceLast(nanos));
        boolean isRecent = sinceLast < RecentLatencies.SECONDS;
        // Without deliveries, latency neither grows nor exceeds the visibility timeout.
        boolean isForeseen = isRecent || (sinceLast < MEANINGFUL_SECONDS && p95() < window);
        return new LatencyForecast(
                Latencies.duration(window),
                Latencies.of(usual),
                isRecent ? Latencies.of(recent.all()) : Latencies.NONE,
                Latencies.duration(sinceLast),
                isForeseen ? timeToBreach() : Optional.empty(),
                beyond.ofHour(),
                beyond.grows());
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() * 1e-9;
    }
}
