package io.exactlyonce.window;

import java.time.Duration;
import java.util.Optional;

/**
 * What is known of a listener's deliveries and their visibility timeout (the window) at one moment.
 *
 * @param window the visibility timeout
 * @param latencies over the last hours; what is older than six hours counts half, than twelve hours a quarter, and so on
 * @param recent of the last five minutes' deliveries, or of the last twenty where those are fewer; of none if there was no
 *     delivery for five minutes
 * @param sinceLast time since the last delivery ended, or since the listener first started if none has
 * @param timeToBreach until p95 of recent deliveries reaches the window if it goes on to grow as it does; zero if it has reached
 *     it; empty if no growth is certain
 * @param shareBeyond part of the last hour's deliveries that outlasted the window, from 0 to 1
 * @param isShareGrowing whether that share is larger than it was over the last day, beyond what is chance
 */
public record LatencyForecast(
        Duration window,
        Latencies latencies,
        Latencies recent,
        Duration sinceLast,
        Optional<Duration> timeToBreach,
        double shareBeyond,
        boolean isShareGrowing) {

    /** Returns the 95th percentile of recent deliveries as a part of the window. */
    public double utilization() {
        return (double) recent.p95().toNanos() / window.toNanos();
    }

    /** Returns the overruns in words, such as "2.0 in 1,000 outlast the window, growing". */
    public String overruns() {
        return "%.1f in 1,000 outlast the window%s".formatted(shareBeyond * 1_000, isShareGrowing ? ", growing" : "");
    }
}
