package io.exactlyonce.benchmarks.drain;

import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleBiFunction;

/** Listeners that drain queues in turns at the same concurrency, and are compared with the first listener. */
final class DrainRace {

    private final List<DrainingListener> contestants;
    private final Measurements measured;

    private DrainRace(List<DrainingListener> contestants, Measurements measured) {
        this.contestants = contestants;
        this.measured = measured;
    }

    /**
     * Measures, and makes a table.
     *
     * @param findings receives the table
     * @param title the heading of the table
     * @param prefix the prefix of the queues' and databases' names
     * @param duplicates the number of messages of which one is a duplicate; 0 if none is
     */
    static DrainRace run(
            Servers servers,
            Findings findings,
            String title,
            String prefix,
            List<Listener> listeners,
            int duplicates,
            Plan plan)
            throws Exception {
        List<DrainingListener> contestants = new ArrayList<>();
        try {
            for (Listener listener : listeners.stream()
                    .filter(listener -> plan.wants(listener.protection()))
                    .toList()) {
                String queue = prefix + "_" + listeners.indexOf(listener);
                contestants.add(new DrainingListener(servers, listener, queue, duplicates));
            }
            DrainRace race = new DrainRace(contestants, Measurements.of(contestants, plan));
            findings.table(title, race.measured.table("messages/s"));
            return race;
        } finally {
            close(contestants);
        }
    }

    private static void close(List<DrainingListener> contestants) throws IOException {
        for (DrainingListener contestant : contestants) {
            contestant.close();
        }
    }

    /** Returns the ratio of two contestants; NaN unless both took part. */
    double ratio(String one, String other) {
        return ratio(one, other, measured::ratio);
    }

    /** Returns the ratio of two contestants' processor times, without other processes; NaN unless both took part. */
    double ratioOfClientCpu(String one, String other) {
        return ratio(one, other, (first, second) -> measured.ratio(first, second, DrainingListener.CLIENT_CPU));
    }

    /** Returns the same ratio without the time of the JIT compiler, which is idle once a process has run for long. */
    double ratioOfWarmClientCpu(String one, String other) {
        return ratio(
                one, other, (first, second) -> measured.ratio(first, second, DrainingListener.CLIENT_CPU_WITHOUT_JIT));
    }

    private double ratio(String one, String other, ToDoubleBiFunction<DrainingListener, DrainingListener> comparison) {
        Optional<DrainingListener> found = find(one);
        Optional<DrainingListener> compared = find(other);
        return found.isPresent() && compared.isPresent()
                ? comparison.applyAsDouble(found.get(), compared.get())
                : Double.NaN;
    }

    /** Returns the ratio of a contestant to the fastest of several others. */
    double ratioToBest(String one, Predicate<String> candidates) {
        return contestants.stream()
                .map(DrainingListener::name)
                .filter(candidates)
                .mapToDouble(other -> ratio(one, other))
                .min()
                .orElse(Double.NaN);
    }

    private Optional<DrainingListener> find(String name) {
        return contestants.stream()
                .filter(contestant -> contestant.name().equals(name))
                .findFirst();
    }
}
