package io.exactlyonce.window;

import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Feeds deliveries to the rule. Records the rule's warnings with their times, and the meters once a minute. */
final class SimulatedRun implements Shape.Sink {

    private static final double SCRAPE_SECONDS = 60;

    private final WatchedLatency watched;
    private final Overruns overruns;
    private final double timeoutSeconds;
    private final List<Told> told = new ArrayList<>();
    private final List<Scrape> scrapes = new ArrayList<>();
    private final Duration length;
    private long samples;
    private long exceeded;

    /** A warning, and its second. */
    record Told(double second, WindowWarning warning) {

        WindowWarning.Kind kind() {
            return warning.kind();
        }
    }

    /** Values of meters at one moment. */
    record Scrape(double utilization, double headroom, long exceeded, long deliveries) {}

    SimulatedRun(double timeoutSeconds) {
        this.timeoutSeconds = timeoutSeconds;
        VisibilityWindow visibility = VisibilityWindow.ofSeconds((int) timeoutSeconds);
        length = visibility.length();
        watched = new WatchedLatency(new Subscription("simulated", "q", visibility, new ScriptedQueue()), 0);
        overruns = new Overruns(timeoutSeconds);
    }

    static SimulatedRun of(Shape shape, long seed) {
        SimulatedRun run = new SimulatedRun(shape.timeoutSeconds());
        shape.play(seed, run);
        return run;
    }

    @Override
    public void accept(double second, double latency) {
        scrapeUntil(second);
        samples++;
        exceeded += latency > timeoutSeconds ? 1 : 0;
        overruns.note(second, latency);
        WindowWarning warning = watched.delivered(nanos(second), Duration.ofNanos(nanos(latency)));
        if (warning != null) {
            told.add(new Told(second, warning));
        }
    }

    private void scrapeUntil(double second) {
        for (double next = scrapes.size() * SCRAPE_SECONDS; next <= second; next += SCRAPE_SECONDS) {
            Latencies recent = watched.recent(nanos(next));
            scrapes.add(new Scrape(
                    recent.utilization(length), timeoutSeconds - recent.p95().toNanos() * 1e-9, exceeded, samples));
        }
    }

    private static long nanos(double seconds) {
        return Math.round(seconds * 1e9);
    }

    /** Returns the values of each scrape, once a minute. */
    List<Scrape> scrapes() {
        return scrapes;
    }

    List<Told> told() {
        return told;
    }

    double timeoutSeconds() {
        return timeoutSeconds;
    }

    double overrunAt() {
        return overruns.driftAt();
    }

    double straysPerThousand() {
        return overruns.straysPerThousand();
    }

    /** Returns the time of the first warning; NaN if there was none. */
    double warnedAt() {
        return told.stream()
                .filter(each -> each.kind() != WindowWarning.Kind.RECOVERED)
                .mapToDouble(Told::second)
                .findFirst()
                .orElse(Double.NaN);
    }

    long warnings() {
        return told.stream()
                .filter(each -> each.kind() != WindowWarning.Kind.RECOVERED)
                .count();
    }

    /** Returns the time from the first warning to the drift, in seconds; negative if the warning came later. */
    double lead() {
        return overrunAt() - warnedAt();
    }

    long samples() {
        return samples;
    }

    String story() {
        return told.stream()
                .map(each -> "%s %s".formatted(each.kind(), Report.time(each.second())))
                .collect(Collectors.joining(", "));
    }
}
