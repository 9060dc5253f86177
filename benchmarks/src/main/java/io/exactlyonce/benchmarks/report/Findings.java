package io.exactlyonce.benchmarks.report;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The findings of a scenario, which are printed at once. Thread-safe. */
public final class Findings {

    private final String letter;
    private final String suffix;
    private final StringBuilder text = new StringBuilder();
    private final Map<String, Double> ratios = new TreeMap<>();
    private @Nullable Duration took;
    private @Nullable Throwable failure;

    /** @param letter the scenario's letter */
    public Findings(String letter) {
        this(letter, "");
    }

    /**
     * Makes findings for a second state of a scenario.
     *
     * @param letter the scenario's letter
     * @param suffix the suffix of all figures' names
     */
    public Findings(String letter, String suffix) {
        this.letter = letter;
        this.suffix = suffix;
    }

    /** Returns the scenario's letter. */
    public String letter() {
        return letter;
    }

    /**
     * Adds a table.
     *
     * @param title the heading
     * @param table the table in Markdown
     */
    public void table(String title, String table) {
        note(title);
        note(table.stripTrailing());
    }

    /** Adds a paragraph. */
    public synchronized void note(String paragraph) {
        text.append(paragraph).append("\n\n");
        System.out.printf("%n%s%n", paragraph);
    }

    /** Adds a figure by its name in {@code results.json}. NaN means that it was not measured. */
    public synchronized void figure(String name, double value) {
        if (!Double.isNaN(value)) {
            ratios.put(name + suffix, value);
        }
    }

    /** Adds figures by their names. */
    public void figures(Map<String, Double> more) {
        more.forEach(this::figure);
    }

    /** Ends the scenario. */
    public synchronized void ended(Duration length) {
        took = length;
    }

    /** Ends the scenario because of a failure. Its other findings stay. */
    public synchronized void failed(Throwable reason) {
        failure = reason;
    }

    /** Returns the failure that ended the scenario early; empty without one. */
    public synchronized Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    synchronized Map<String, Double> figures() {
        return Map.copyOf(ratios);
    }

    /** Returns a section of the report, in Markdown. */
    synchronized String section() {
        StringBuilder section = new StringBuilder("## (%s)%n%n".formatted(letter)).append(text);
        if (failure != null) {
            section.append("**Failed:** %s%n%n".formatted(failure));
        }
        if (took == null) {
            section.append("It had not ended when this was written.%n%n".formatted());
        } else {
            section.append("Took %d:%02d min.%n%n".formatted(took.toMinutes(), took.toSecondsPart()));
        }
        return section.toString();
    }
}
