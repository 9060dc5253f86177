package io.exactlyonce.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What contestants reached in each round. */
public final class Measurements {

    private final Map<Contestant, List<Double>> rates = new LinkedHashMap<>();

    private Measurements() {}

    /** Lets all contestants warm up, and then work in turns: A B C A B C, so that what disturbs one disturbs all. */
    public static Measurements of(List<? extends Contestant> contestants, Plan plan) throws Exception {
        Measurements measurements = new Measurements();
        for (Contestant contestant : contestants) {
            contestant.warmUp(plan.warmUp());
            System.err.printf("ready: %s%n", contestant.name());
        }
        for (int round = 1; round <= plan.rounds(); round++) {
            for (Contestant contestant : contestants) {
                double rate = contestant.run(plan.turn());
                measurements.add(contestant, rate);
                // Shows progress; kept apart from the tables.
                System.err.printf("round %d: %s: %,.0f%n", round, contestant.name(), rate);
            }
        }
        return measurements;
    }

    private void add(Contestant contestant, double rate) {
        rates.computeIfAbsent(contestant, name -> new ArrayList<>()).add(rate);
    }

    /** Returns the median of the ratios of two contestants' rates in the same round. */
    public double ratio(Contestant one, Contestant other) {
        List<Double> first = of(one);
        List<Double> second = of(other);
        return median(IntStream.range(0, first.size())
                .mapToObj(round -> first.get(round) / second.get(round))
                .toList());
    }

    /** Returns the median of a contestant's rates. */
    public double median(Contestant contestant) {
        return median(of(contestant));
    }

    /** Returns what a contestant reached in each round. */
    public List<Double> of(Contestant contestant) {
        return Objects.requireNonNull(rates.get(contestant), contestant.name());
    }

    /** Returns the value in the middle, or between the two in the middle. */
    public static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /**
     * Returns a table in Markdown: each contestant's median, lowest and highest rate, and its ratio to the first one.
     *
     * @param unit what is counted
     */
    public String table(String unit) {
        Contestant first = rates.keySet().iterator().next();
        return "| %s | median | min | max | ratio to the first | not done right |%n|---|---|---|---|---|---|%n"
                        .formatted(unit)
                + rates.keySet().stream()
                        .map(contestant -> row(contestant, ratio(contestant, first)))
                        .collect(Collectors.joining());
    }

    private String row(Contestant contestant, double ratio) {
        List<Double> values = of(contestant);
        return "| %s | %,.0f | %,.0f | %,.0f | %.2f | %s |%n"
                .formatted(
                        contestant.name(),
                        median(values),
                        values.stream().min(Double::compare).orElseThrow(),
                        values.stream().max(Double::compare).orElseThrow(),
                        ratio,
                        contestant.faults());
    }
}
