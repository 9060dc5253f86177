package io.exactlyonce.benchmarks;

import io.exactlyonce.benchmarks.load.RepeatRule.Attempts;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The values that contestants reached in each round. */
public final class Measurements {

    /** The number of consecutive turns that must be similar before a contestant counts as steady. */
    private static final int STEADY_TURNS = 3;

    private static final double STEADY_SPREAD = 0.05;

    /**
     * The most turns until a contestant is steady. A contestant that never becomes steady is measured anyway, and the
     * table mentions it.
     */
    private static final int MAX_TURNS_UNTIL_STEADY = 25;

    private final Map<Contestant, List<Attempts<Reading>>> turns = new LinkedHashMap<>();

    /** How each contestant became steady, if steadiness is required. */
    private final List<String> ways = new ArrayList<>();

    private Measurements() {}

    /**
     * Lets all contestants warm up, and then work in turns (A B C A B C), so that a disturbance affects all of them.
     */
    public static Measurements of(List<? extends Contestant> contestants, Plan plan) throws Exception {
        Measurements measurements = new Measurements();
        for (Contestant contestant : contestants) {
            contestant.warmUp(plan.warmUp());
            if (plan.steady()) {
                measurements.ways.add(wayToSteadyState(contestant, plan.turn()));
            }
            System.err.printf("ready: %s%n", contestant.name());
        }
        plan.beforeTurns().run();
        for (int round = 1; round <= plan.rounds(); round++) {
            for (Contestant contestant : contestants) {
                Attempts<Reading> turn = plan.repeats().take(() -> contestant.run(plan.turn()));
                measurements
                        .turns
                        .computeIfAbsent(contestant, first -> new ArrayList<>())
                        .add(turn);
                // Progress goes to standard error, apart from the tables.
                System.err.printf(
                        "round %d: %s: %,.0f; load from elsewhere, %%: %s%n",
                        round, contestant.name(), turn.counted().reading().value(), turn.loads());
            }
        }
        return measurements;
    }

    /** Runs a contestant until it becomes no faster, and returns the value of each turn as text. */
    private static String wayToSteadyState(Contestant contestant, Turn turn) throws Exception {
        List<Double> reached = new ArrayList<>();
        do {
            reached.add(contestant.run(turn).value());
        } while (!isSteady(reached) && reached.size() < MAX_TURNS_UNTIL_STEADY);
        return "%s: %s%s"
                .formatted(
                        contestant.name(),
                        reached.stream().map("%,.0f"::formatted).collect(Collectors.joining(" ")),
                        isSteady(reached) ? "" : " (still differ)");
    }

    static boolean isSteady(List<Double> reached) {
        if (reached.size() < STEADY_TURNS) {
            return false;
        }
        DoubleSummaryStatistics last = reached.subList(reached.size() - STEADY_TURNS, reached.size()).stream()
                .mapToDouble(Double::doubleValue)
                .summaryStatistics();
        return last.getMax() - last.getMin() < STEADY_SPREAD * last.getMax();
    }

    /** Returns the median ratio of two contestants' values in the same round. */
    public double ratio(Contestant one, Contestant other) {
        return ratio(one, other, Reading::value);
    }

    /** Returns the median ratio of two contestants' additional figures in the same round. */
    public double ratio(Contestant one, Contestant other, String figure) {
        return ratio(
                one, other, reading -> Objects.requireNonNull(reading.figures().get(figure), figure));
    }

    private double ratio(Contestant one, Contestant other, ToDoubleFunction<Reading> figure) {
        List<Double> first = of(one, figure);
        List<Double> second = of(other, figure);
        return median(IntStream.range(0, first.size())
                .mapToObj(round -> first.get(round) / second.get(round))
                .toList());
    }

    /** Returns the median of a contestant's values. */
    public double median(Contestant contestant) {
        return median(of(contestant));
    }

    /** Returns the median of a contestant's additional figure. */
    public double median(Contestant contestant, String figure) {
        return median(of(contestant, reading -> reading.figures().getOrDefault(figure, Double.NaN)));
    }

    /** Returns a contestant's value in each round. */
    public List<Double> of(Contestant contestant) {
        return of(contestant, Reading::value);
    }

    private List<Double> of(Contestant contestant, ToDoubleFunction<Reading> figure) {
        return turnsOf(contestant).stream()
                .map(turn -> figure.applyAsDouble(turn.counted().reading()))
                .toList();
    }

    private List<Attempts<Reading>> turnsOf(Contestant contestant) {
        return Objects.requireNonNull(turns.get(contestant), contestant.name());
    }

    /** Returns the middle value, or the mean of the two middle values. */
    public static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /**
     * Returns a Markdown table: each contestant's median, lowest and highest value, its ratio to the first contestant,
     * the medians of its additional figures, and the load of other programs.
     *
     * @param unit the unit of the values
     */
    public String table(String unit) {
        Contestant first = turns.keySet().iterator().next();
        Set<String> figures = turns.values().stream()
                .flatMap(List::stream)
                .flatMap(turn -> turn.counted().reading().figures().keySet().stream())
                .sorted()
                .collect(Collectors.toCollection(LinkedHashSet::new));
        String more = figures.stream().map(figure -> figure + " | ").collect(Collectors.joining());
        return "| %s | median | min | max | ratio to the first | %snot done right | load from elsewhere, %% |%n|%s%n"
                        .formatted(unit, more, "---|".repeat(7 + figures.size()))
                + turns.keySet().stream()
                        .map(contestant -> row(contestant, ratio(contestant, first), figures))
                        .collect(Collectors.joining())
                + (ways.isEmpty() ? "" : "%nTurns until steady: %s%n".formatted(String.join("; ", ways)));
    }

    private String row(Contestant contestant, double ratio, Set<String> figures) {
        List<Double> values = of(contestant);
        return "| %s | %,.0f | %,.0f | %,.0f | %.2f | %s%s | %s |%n"
                .formatted(
                        contestant.name(),
                        median(values),
                        values.stream().min(Double::compare).orElseThrow(),
                        values.stream().max(Double::compare).orElseThrow(),
                        ratio,
                        figures.stream()
                                .map(figure -> "%s | ".formatted(number(median(contestant, figure))))
                                .collect(Collectors.joining()),
                        contestant.faults(),
                        turnsOf(contestant).stream().map(Attempts::loads).collect(Collectors.joining(", ")));
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "" : "%,.0f".formatted(value);
    }
}
