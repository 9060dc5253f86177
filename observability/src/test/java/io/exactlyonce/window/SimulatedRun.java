package io.exactlyonce.window;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Feeds the advisor, through its one entry, and keeps what it told and when. */
final class SimulatedRun implements Shape.Sink {

    private final LatencyForecaster forecaster;
    private final Overruns overruns;
    private final double window;
    private final List<Told> told = new ArrayList<>();
    private long samples;

    /** A warning, and its second. */
    record Told(double second, WindowWarning warning) {

        WindowWarning.Kind kind() {
            return warning.kind();
        }
    }

    SimulatedRun(double window) {
        this.window = window;
        forecaster = new LatencyForecaster(Duration.ofNanos(Math.round(window * 1e9)), 0);
        overruns = new Overruns(window);
    }

    static SimulatedRun of(Shape shape, long seed) {
        SimulatedRun run = new SimulatedRun(shape.window());
        shape.play(seed, run);
        return run;
    }

    @Override
    public void accept(double second, double latency) {
        samples++;
        overruns.note(second, latency);
        WindowWarning warning = forecaster.record(Math.round(second * 1e9), latency);
        if (warning != null) {
            told.add(new Told(second, warning));
        }
    }

    List<Told> told() {
        return told;
    }

    double window() {
        return window;
    }

    double overrunAt() {
        return overruns.driftAt();
    }

    double straysPerThousand() {
        return overruns.straysPerThousand();
    }

    /** Returns when it was first warned; not a number if it was not. */
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

    /** Returns how long before the drift the first warning came, in seconds; negative if it came after it. */
    double lead() {
        return overrunAt() - warnedAt();
    }

    /** Returns the first warning that told a time, ahead of the drift; empty if none did. */
    Optional<Told> timeTold() {
        return told.stream()
                .filter(each -> each.second() < overrunAt() && each.kind() != WindowWarning.Kind.RECOVERED)
                .filter(each ->
                        each.warning().timeToBreach().orElse(Duration.ZERO).compareTo(Duration.ZERO) > 0)
                .findFirst();
    }

    /** Ten windows, or five minutes. */
    boolean isEarly() {
        return lead() >= Math.min(10 * window, 300);
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
