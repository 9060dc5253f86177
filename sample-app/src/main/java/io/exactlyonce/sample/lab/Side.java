package io.exactlyonce.sample.lab;

import io.exactlyonce.sample.provider.ProviderStub;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** One side of the experiment, with its own queue, database, provider and workers. */
final class Side implements AutoCloseable {

    private final Kind kind;
    private final LabServers servers;
    private final LabSettings settings;
    private final Workload workload;
    private final Console console;
    private final ProviderStub provider;
    private final WorkerPool workers;
    private List<String> endedByThemselves = List.of();
    private boolean drained;

    Side(Kind kind, LabServers servers, LabSettings settings, JavaCommand java, Console console) throws IOException {
        this.kind = kind;
        this.servers = servers;
        this.settings = settings;
        this.workload = new Workload(settings);
        this.console = console;
        Crash crash = new Crash(settings.orders() / 2, workload::outlivesWindow, this::kill);
        this.provider = ProviderStub.start(0, workload::mailDelay, crash);
        this.workers = new WorkerPool(kind, java, environment(), servers.workspace());
    }

    Kind kind() {
        return kind;
    }

    void startWorkers() throws IOException {
        for (int i = 0; i < settings.workersPerSide(); i++) {
            workers.startOne();
        }
    }

    void awaitWorkers(Deadline deadline) throws InterruptedException {
        workers.awaitReady(deadline);
        if (kind == Kind.EXACTLY_ONCE) {
            for (WorkerProcess worker : workers.living()) {
                console.progress(
                        "%s: curl http://127.0.0.1:%d/actuator/exactlyonce, or .../prometheus",
                        worker.name(), worker.awaitPort(deadline));
            }
        }
    }

    void send() {
        servers.queues().send(kind, workload.orders());
    }

    /**
     * Waits until every message is deleted and no handler waits for an answer.
     *
     * @param meanwhile runs before each check
     * @return whether the side was drained in time
     */
    boolean awaitDrained(Deadline deadline, Runnable meanwhile) throws InterruptedException {
        drained = deadline.waitUntil(() -> {
            meanwhile.run();
            return isDrained();
        });
        return drained;
    }

    /** Returns the number of orders whose messages are no longer in the queue. */
    long handled() {
        return Math.max(0, settings.orders() - servers.queues().size(kind));
    }

    /** Returns the metrics of all running workers by name. */
    SortedMap<String, Metrics> scrape(Deadline deadline) throws IOException, InterruptedException {
        SortedMap<String, Metrics> metrics = new TreeMap<>();
        for (WorkerProcess worker : workers.living()) {
            if (worker.isReady()) {
                metrics.put(worker.name(), Metrics.scrape(worker.awaitPort(deadline)));
            }
        }
        return metrics;
    }

    /**
     * Requests the shutdown of the workers without waiting for it. If time is up and workers are still busy, ends them
     * at once.
     */
    void requestStop() throws IOException {
        endedByThemselves = workers.endedByThemselves();
        if (drained) {
            workers.requestStop();
        } else {
            workers.close();
        }
    }

    /** Waits for the end of the workers, and then counts, because nothing changes any more. */
    SideFigures count() throws SQLException {
        workers.awaitStop();
        FulfilmentTable table = new FulfilmentTable(servers.databases().database(kind));
        return new SideFigures(
                workload.orderIds(),
                provider.statement(),
                table.orders(),
                Duration.ofMillis(table.p95Millis()),
                settings.visibilityTimeout(),
                workers.killed(),
                endedByThemselves,
                servers.queues().size(kind),
                provider.shipments());
    }

    @Override
    public void close() {
        workers.close();
        provider.close();
    }

    private boolean isDrained() {
        return provider.isIdle() && servers.queues().size(kind) == 0;
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>(servers.environment(kind));
        environment.put("ORDERS_PROVIDERURL", provider.url().toString());
        return environment;
    }

    private void kill(String worker, String orderId) {
        provider.workerIsKilled(worker);
        WorkerProcess replacement = workers.replace(worker);
        console.progress(
                "killed %s with SIGKILL: %s is charged, not recorded; %s starts in its place",
                worker, orderId, replacement.name());
    }
}
