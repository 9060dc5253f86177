package io.exactlyonce.benchmarks;

import io.exactlyonce.benchmarks.claims.ClaimEngineScenario;
import io.exactlyonce.benchmarks.claims.StatementCostScenario;
import io.exactlyonce.benchmarks.drain.CloudScenario;
import io.exactlyonce.benchmarks.drain.DuplicatesScenario;
import io.exactlyonce.benchmarks.drain.DynamoDbScenario;
import io.exactlyonce.benchmarks.drain.MetricsScenario;
import io.exactlyonce.benchmarks.drain.NoOpScenario;
import io.exactlyonce.benchmarks.drain.RowScenario;
import io.exactlyonce.benchmarks.inflight.InFlightScenario;
import io.exactlyonce.benchmarks.latency.LatencyScenario;
import io.exactlyonce.benchmarks.process.Conversation;
import io.exactlyonce.benchmarks.process.Postgres;
import io.exactlyonce.benchmarks.process.Role;
import io.exactlyonce.benchmarks.process.SqsProcess;
import io.exactlyonce.benchmarks.report.Circumstances;
import io.exactlyonce.benchmarks.report.Findings;
import io.exactlyonce.benchmarks.report.Report;
import io.exactlyonce.benchmarks.startup.StartUpScenario;
import io.exactlyonce.benchmarks.volume.VolumeScenario;
import io.exactlyonce.benchmarks.worker.Worker;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Runs the scenarios whose letters are given (by default all), and writes a report of their findings.
 * {@code -Dbench.quick} reduces contestants and turns. {@code -Dbench.short} measures only for a moment, to check that
 * everything works.
 */
public final class Benchmarks {

    private static final Map<String, Scenario> SCENARIOS = new TreeMap<>(Map.ofEntries(
            Map.entry("a", new NoOpScenario()),
            Map.entry("b", new RowScenario()),
            Map.entry("c", new DuplicatesScenario()),
            Map.entry("d", new ClaimEngineScenario()),
            Map.entry("e", new LatencyScenario()),
            Map.entry("f", new InFlightScenario()),
            Map.entry("g", new VolumeScenario()),
            Map.entry("h", new StartUpScenario()),
            Map.entry("i", new MetricsScenario()),
            Map.entry("j", new CloudScenario()),
            Map.entry("k", new DynamoDbScenario()),
            Map.entry("l", new StatementCostScenario())));

    /** The scenarios of the quick form, the most important ones first. */
    private static final List<String> QUICK = List.of("a", "j", "b", "d", "e", "h");

    /** The number of scenarios that run at the same time if times do not matter. */
    private static final int AT_A_TIME_IF_SHORT = 2;

    private Benchmarks() {}

    /**
     * Runs the benchmarks. {@code -Dbench.results} names the file for the figures. The report {@code report.md} is in
     * the same directory.
     */
    public static void main(String[] arguments) throws Exception {
        List<String> all = List.of(arguments);
        if (all.contains(Role.SQS.argument())) {
            Conversation.endWithParent();
            SqsProcess.run();
        } else if (all.contains(Role.WORKER.argument())) {
            Conversation.endWithParent();
            Worker.run(all.subList(1, all.size()).toArray(String[]::new));
        } else {
            measure(all);
        }
    }

    private static void measure(List<String> arguments) throws Exception {
        Plan plan = Plan.ofSystemProperties();
        String suffix = plan.steady() ? "_steady" : "";
        List<Findings> all = letters(arguments, plan).stream()
                .map(letter -> new Findings(letter, suffix))
                .toList();
        Report report = new Report(
                Circumstances.of(Clock.systemUTC(), postgresVersion()),
                all,
                Path.of(System.getProperty("bench.results", "benchmarks/target/results.json")));
        ExecutorService executor = Executors.newFixedThreadPool(plan.isShort() ? AT_A_TIME_IF_SHORT : 1);
        try {
            for (Future<Void> ended : executor.invokeAll(all.stream()
                    .map(findings -> (Callable<Void>) () -> run(plan, findings, report))
                    .toList())) {
                ended.get();
            }
        } finally {
            executor.shutdownNow();
        }
        report.figures().forEach((name, value) -> System.out.printf("%-44s %10.2f%n", name, value));
        System.out.println(report.text());
        requireNoFailure(all);
    }

    private static List<String> letters(List<String> arguments, Plan plan) {
        List<String> letters = arguments.isEmpty()
                ? plan.choose(List.copyOf(SCENARIOS.keySet()), QUICK, List.copyOf(SCENARIOS.keySet()))
                : arguments;
        letters.stream().filter(letter -> !SCENARIOS.containsKey(letter)).forEach(letter -> {
            throw new IllegalArgumentException(
                    "There is no scenario %s; choose from %s".formatted(letter, SCENARIOS.keySet()));
        });
        return letters;
    }

    private static String postgresVersion() throws Exception {
        try (Postgres postgres = new Postgres()) {
            return postgres.version();
        }
    }

    /**
     * Runs a scenario. If the scenario fails, the findings of the others are kept. All findings are written as soon as
     * it ends.
     */
    private static @Nullable Void run(Plan plan, Findings findings, Report report) throws Exception {
        System.out.printf("%n## (%s)%n", findings.letter());
        long startNanos = System.nanoTime();
        try {
            Objects.requireNonNull(SCENARIOS.get(findings.letter())).run(plan, findings);
        } catch (Exception e) {
            findings.failed(e);
        } finally {
            findings.ended(Duration.ofNanos(System.nanoTime() - startNanos));
            report.write();
        }
        return null;
    }

    private static void requireNoFailure(List<Findings> all) {
        List<Findings> failed =
                all.stream().filter(findings -> findings.failure().isPresent()).toList();
        if (!failed.isEmpty()) {
            IllegalStateException failure = new IllegalStateException(
                    "Scenarios failed: " + failed.stream().map(Findings::letter).collect(Collectors.joining(", ")));
            failed.forEach(findings -> findings.failure().ifPresent(failure::addSuppressed));
            throw failure;
        }
    }
}
