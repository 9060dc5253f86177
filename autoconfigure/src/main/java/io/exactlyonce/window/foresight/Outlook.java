package io.exactlyonce.window.foresight;

import java.time.Duration;
import java.util.Optional;

/**
 * What is known of a listener's deliveries against their window.
 *
 * @param window the visibility window
 * @param latencies over the last hours
 * @param recentP95 of the last five minutes' deliveries, or of the last twenty where those are fewer; zero if there were none for
 *     five minutes
 * @param timeToBreach until p95 reaches the window if it goes on to grow as it does; empty if no growth is certain
 * @param shareBeyond part of the last hour's deliveries that outlasted the window, from 0 to 1
 * @param isShareGrowing whether that share is larger than it was over the last day, beyond what is chance
 */
public record Outlook(
        Duration window,
        Latencies latencies,
        Duration recentP95,
        Optional<Duration> timeToBreach,
        double shareBeyond,
        boolean isShareGrowing) {

    /** Returns p95 as a part of the window. */
    public double utilization() {
        return (double) recentP95.toNanos() / window.toNanos();
    }

    /** Returns the strays in words, such as "2.0 in 1,000 outlast the window, growing". */
    public String strays() {
        return "%.1f in 1,000 outlast the window%s".formatted(shareBeyond * 1_000, isShareGrowing ? ", growing" : "");
    }
}
