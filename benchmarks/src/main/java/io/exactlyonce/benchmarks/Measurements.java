package io.exactlyonce.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

/** What contestants reached in each round. */
public final class Measurements {

    private final Map<String, List<Double>> rates = new LinkedHashMap<>();

    private Measurements() {}

    /** Lets all contestants warm up, and then work in turns: A B C A B C, so that what disturbs one disturbs all. */
    public static Measurements of(List<Contestant> contestants, Plan plan) throws Exception {
        Measurements measurements = new Measurements();
        for (Contestant contestant : contestants) {
            contestant.run(plan.warmUp());
        }
        for (int round = 0; round < plan.rounds(); round++) {
            for (Contestant contestant : contestants) {
                measurements.add(contestant.name(), contestant.run(plan.turn()));
            }
        }
        return measurements;
    }

    void add(String contestant, double rate) {
        rates.computeIfAbsent(contestant, name -> new ArrayList<>()).add(rate);
    }

    /** Returns the median of the ratios of two contestants' rates in the same round. */
    public double ratio(Contestant one, Contestant other) {
        List<Double> ones = of(one.name());
        List<Double> others = of(other.name());
        return median(IntStream.range(0, ones.size())
                .mapToObj(round -> ones.get(round) / others.get(round))
                .toList());
    }

    private List<Double> of(String contestant) {
        return Objects.requireNonNull(rates.get(contestant), contestant);
    }

    static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /** Returns a table: each contestant's median, lowest and highest rate. */
    @Override
    public String toString() {
        StringBuilder table =
                new StringBuilder("%-44s %10s %10s %10s%n".formatted("per second", "median", "min", "max"));
        rates.forEach((name, values) -> table.append("%-44s %,10.0f %,10.0f %,10.0f%n"
                .formatted(
                        name,
                        median(values),
                        values.stream().min(Double::compare).orElseThrow(),
                        values.stream().max(Double::compare).orElseThrow())));
        return table.toString();
    }
}
