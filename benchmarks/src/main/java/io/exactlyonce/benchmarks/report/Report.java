package io.exactlyonce.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Writes all findings of a run so far: as Markdown for readers, and as JSON for programs. */
public final class Report {

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private static final String HOW = """
            Figures are medians of turns that contestants took one after the other; ratios are medians of the ratios in each round. \
            *Load from elsewhere* is what other programs used of the machine during each turn, in percent; a turn \
            in brackets found the machine too busy, was taken again, and does not count.
            """;

    private final Map<String, String> circumstances;
    private final List<Findings> scenarios;
    private final Path results;

    /**
     * @param circumstances the facts of the run by name
     * @param scenarios the scenarios in order
     * @param results the file for the figures; the text goes to {@code report.md} in the same directory
     */
    public Report(Map<String, String> circumstances, List<Findings> scenarios, Path results) {
        this.circumstances = circumstances;
        this.scenarios = List.copyOf(scenarios);
        this.results = results.toAbsolutePath();
    }

    /** Returns the file of the text. */
    public Path text() {
        return results.resolveSibling("report.md");
    }

    /** Writes both files, and replaces earlier versions. */
    public synchronized void write() throws IOException {
        Files.createDirectories(results.getParent());
        Files.writeString(text(), markdown());
        Files.writeString(results, json() + System.lineSeparator());
    }

    /** Returns the figures of all scenarios by name. */
    public Map<String, Double> figures() {
        Map<String, Double> all = new TreeMap<>();
        scenarios.forEach(findings -> all.putAll(findings.figures()));
        return all;
    }

    String json() {
        Map<String, Object> all = new TreeMap<>(figures());
        all.put("run", circumstances);
        return JSON.writeValueAsString(all);
    }

    String markdown() {
        String facts = circumstances.entrySet().stream()
                .map(fact -> "| %s | %s |%n".formatted(fact.getKey(), fact.getValue()))
                .collect(Collectors.joining());
        return "# Benchmarks%n%n| | |%n|---|---|%n%s%n%s%n%s".formatted(facts, HOW, targets())
                + scenarios.stream().map(Findings::section).collect(Collectors.joining())
                + further();
    }

    private String targets() {
        Map<String, Double> figures = figures();
        return "| Target of | Reached | Target | |%n|---|---|---|---|%n".formatted()
                + Target.ALL.stream()
                        .filter(target -> scenarios.stream().anyMatch(findings -> target.isOf(findings.letter())))
                        .map(target -> target.row(figures))
                        .collect(Collectors.joining())
                + "%n".formatted();
    }

    private String further() {
        return "## All figures%n%n| | |%n|---|---|%n".formatted()
                + figures().entrySet().stream()
                        .map(figure -> "| `%s` | %,.3f |%n".formatted(figure.getKey(), figure.getValue()))
                        .collect(Collectors.joining());
    }
}
