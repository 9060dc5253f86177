package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/** One run, from the start of its servers to its verdict. */
final class Experiment {

    private final LabSettings settings;
    private final Console console;
    private final JavaCommand java;
    private final Cleanup cleanup;
    private final Deadline deadline;
    private final Map<Kind, Side> sides = new EnumMap<>(Kind.class);

    Experiment(LabSettings settings, Console console, JavaCommand java, Cleanup cleanup) {
        this.settings = settings;
        this.console = console;
        this.java = java;
        this.cleanup = cleanup;
        this.deadline = Deadline.in(settings.deadline());
    }

    Verdict run(Workspace workspace) throws IOException, InterruptedException, SQLException {
        startWorkers(startServers(workspace));
        sendOrders();
        awaitDrained();
        Map<String, Metrics> metrics = side(Kind.EXACTLY_ONCE).scrape(deadline);
        for (Side side : sides()) {
            side.requestStop();
        }
        SideFigures naive = side(Kind.NAIVE).count();
        SideFigures exactlyOnce = side(Kind.EXACTLY_ONCE).count();
        console.progress("workers stopped, charges and rows counted");
        printMetrics(metrics);
        console.line("");
        ReportTable.of(naive, exactlyOnce).forEach(console::line);
        console.line("");
        return Verdict.of(naive, exactlyOnce);
    }

    private LabServers startServers(Workspace workspace) throws IOException, InterruptedException, SQLException {
        Databases databases = cleanup.add(Databases.start(workspace));
        console.progress("PostgreSQL %s is up, with a database for each side", databases.version());
        Queues queues = cleanup.add(Queues.start(settings.visibilityTimeout()));
        console.progress(
                "ElasticMQ is up, visibility timeout %d s",
                settings.visibilityTimeout().toSeconds());
        return new LabServers(databases, queues, startClaims(workspace), workspace);
    }

    /** Returns the settings with which exactly-once workers keep their claims in the chosen store. */
    private Map<String, String> startClaims(Workspace workspace) throws IOException, InterruptedException {
        if (settings.store() == Store.POSTGRESQL) {
            return Map.of();
        }
        DynamoDbLocal server = cleanup.add(DynamoDbLocal.start(workspace));
        console.progress("DynamoDB Local is up, for the claims of the exactly-once side");
        return server.environment();
    }

    private void startWorkers(LabServers servers) throws IOException, InterruptedException {
        for (Kind kind : Kind.values()) {
            sides.put(kind, cleanup.add(new Side(kind, servers, settings, java, console)));
            side(kind).startWorkers();
        }
        console.progress("starting %d workers of each kind, each in its own JVM", settings.workersPerSide());
        for (Side side : sides()) {
            side.awaitWorkers(deadline);
        }
        console.progress("all workers are ready");
    }

    private void sendOrders() {
        console.progress(
                "sending the same %d orders to both queues; %d of them take longer than the visibility timeout",
                settings.orders(), new Workload(settings).slowOrders());
        for (Side side : sides()) {
            side.send();
        }
    }

    private void awaitDrained() throws InterruptedException {
        for (Side side : sides()) {
            boolean drained = side.awaitDrained(deadline, () -> console.bars(this::bars));
            console.progress("%s queue: %s", side.kind().label(), drained ? "drained" : "NOT drained in time");
        }
    }

    private String bars() {
        return sides().stream()
                .map(side -> Console.bar(side.kind().label(), side.handled(), settings.orders()))
                .collect(Collectors.joining("   "));
    }

    private void printMetrics(Map<String, Metrics> metrics) {
        metrics.entrySet().stream().findFirst().ifPresent(worker -> {
            console.line("");
            console.line("  /actuator/prometheus of " + worker.getKey() + ", before it was stopped (excerpt):");
            worker.getValue().excerpt().forEach(line -> console.line("    " + line));
        });
    }

    private Side side(Kind kind) {
        Side side = sides.get(kind);
        if (side == null) {
            throw new IllegalStateException("The %s side has not been started".formatted(kind.label()));
        }
        return side;
    }

    private Collection<Side> sides() {
        return sides.values();
    }
}
