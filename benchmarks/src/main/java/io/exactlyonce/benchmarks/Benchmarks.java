package io.exactlyonce.benchmarks;

import io.exactlyonce.benchmarks.claims.ClaimEngineScenario;
import io.exactlyonce.benchmarks.drain.DuplicatesScenario;
import io.exactlyonce.benchmarks.drain.MetricsScenario;
import io.exactlyonce.benchmarks.drain.NoOpScenario;
import io.exactlyonce.benchmarks.drain.RowScenario;
import io.exactlyonce.benchmarks.inflight.InFlightScenario;
import io.exactlyonce.benchmarks.latency.LatencyScenario;
import io.exactlyonce.benchmarks.process.Conversation;
import io.exactlyonce.benchmarks.process.Role;
import io.exactlyonce.benchmarks.process.SqsProcess;
import io.exactlyonce.benchmarks.startup.StartUpScenario;
import io.exactlyonce.benchmarks.volume.VolumeScenario;
import io.exactlyonce.benchmarks.worker.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs the scenarios whose letters it is given, all of them by default, and writes {@code results.json}. With
 * {@code -Dbench.short} it measures for a moment only, to see that everything works.
 */
public final class Benchmarks {

    private static final Map<String, Scenario> SCENARIOS = new TreeMap<>(Map.of(
            "a", new NoOpScenario(),
            "b", new RowScenario(),
            "c", new DuplicatesScenario(),
            "d", new ClaimEngineScenario(),
            "e", new LatencyScenario(),
            "f", new InFlightScenario(),
            "g", new VolumeScenario(),
            "h", new StartUpScenario(),
            "i", new MetricsScenario()));

    /** Where times are not judged, scenarios need not have the machine to themselves. */
    private static final int AT_A_TIME_IF_SHORT = 2;

    private Benchmarks() {}

    /** Entry point; {@code -Dbench.results} says where the results go. */
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
        List<String> letters = arguments.isEmpty() ? List.copyOf(SCENARIOS.keySet()) : arguments;
        List<Scenario> scenarios = letters.stream().map(Benchmarks::scenario).toList();
        Plan plan = Plan.ofSystemProperty();
        Map<String, Double> results = new TreeMap<>();
        ExecutorService executor = Executors.newFixedThreadPool(plan.isShort() ? AT_A_TIME_IF_SHORT : 1);
        try {
            for (Future<Map<String, Double>> ended : executor.invokeAll(scenarios.stream()
                    .map(scenario -> (Callable<Map<String, Double>>) () -> scenario.run(plan))
                    .toList())) {
                results.putAll(ended.get());
            }
        } finally {
            executor.shutdownNow();
        }
        results.values().removeIf(ratio -> ratio.isNaN());
        write(results, Path.of(System.getProperty("bench.results", "benchmarks/target/results.json")));
    }

    private static Scenario scenario(String letter) {
        Scenario scenario = SCENARIOS.get(letter);
        if (scenario == null) {
            throw new IllegalArgumentException(
                    "There is no scenario %s; choose from %s".formatted(letter, SCENARIOS.keySet()));
        }
        return scenario;
    }

    private static void write(Map<String, Double> results, Path file) throws Exception {
        results.forEach((name, ratio) -> System.out.printf("%-44s %10.2f%n", name, ratio));
        Files.createDirectories(file.toAbsolutePath().getParent());
        JsonMapper json =
                JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
        Files.writeString(file, json.writeValueAsString(results) + System.lineSeparator());
        System.out.println(file.toAbsolutePath());
    }
}
