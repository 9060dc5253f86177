package io.exactlyonce.sample.live;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import io.exactlyonce.sample.lab.Deadline;
import io.exactlyonce.sample.lab.FulfilmentTable;
import io.exactlyonce.sample.lab.JavaCommand;
import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.WorkerPool;
import io.exactlyonce.sample.lab.WorkerProcess;
import io.exactlyonce.sample.live.Till.InHand;
import io.exactlyonce.sample.provider.ProviderStub;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One side of the lab, with its own queue, database, provider and two workers. */
final class LiveSide implements AutoCloseable {

    private static final int WORKERS = 2;

    /**
     * The number of handlers of a worker. It suffices for all orders when the partner is slowest, while the other
     * worker is replaced.
     */
    private static final int HANDLERS = 40;

    private static final Duration RECENT = Duration.ofSeconds(5);

    private final Kind kind;
    private final LiveServers servers;
    private final Journal journal;
    private final Till till;
    private final ProviderStub provider;
    private final WorkerPool workers;
    private final FulfilmentTable fulfilments;

    LiveSide(Kind kind, LiveServers servers, JavaCommand java, Partner partner, Journal journal) throws IOException {
        this.kind = kind;
        this.servers = servers;
        this.journal = journal;
        this.till = new Till(kind.label(), journal);
        this.provider = ProviderStub.start(0, partner::delay, till);
        Map<String, String> environment = new HashMap<>(servers.environment(kind));
        environment.put("ORDERS_PROVIDERURL", provider.url().toString());
        environment.put("SPRING_CLOUD_AWS_SQS_LISTENER_MAXCONCURRENTMESSAGES", Integer.toString(HANDLERS));
        this.workers = new WorkerPool(kind, java, environment, servers.workspace());
        this.fulfilments = new FulfilmentTable(servers.databases().database(kind));
    }

    void startWorkers() throws IOException {
        for (int i = 0; i < WORKERS; i++) {
            workers.startOne();
        }
    }

    void awaitWorkers(Deadline deadline) throws InterruptedException {
        workers.awaitReady(deadline);
    }

    boolean isDrained() {
        return servers.queues().size(kind) == 0;
    }

    /** Returns how often an order was charged. */
    int chargesOf(String order) {
        return till.chargesOf(order);
    }

    /** Returns the workers that take orders. */
    List<WorkerProcess> ready() {
        return workers.living().stream().filter(WorkerProcess::isReady).toList();
    }

    /**
     * Kills the worker with the most orders, and starts another in its place. Does nothing while only one worker takes
     * orders.
     *
     * @return whether a worker was killed
     */
    boolean killBusiest() {
        List<WorkerProcess> ready = ready();
        if (ready.size() < WORKERS) {
            return false;
        }
        Map<String, Long> load = till.inHand().stream().collect(groupingBy(InHand::worker, counting()));
        String victim = ready.stream()
                .map(WorkerProcess::name)
                .max((one, other) -> Long.compare(load.getOrDefault(one, 0L), load.getOrDefault(other, 0L)))
                .orElseThrow();
        kill(victim);
        return true;
    }

    /**
     * Kills the worker that handles an order, and starts another in its place.
     *
     * @return whether a worker handled the order
     */
    boolean killOwnerOf(String order) {
        Optional<String> owner = till.inHand().stream()
                .filter(each -> each.order().equals(order))
                .map(InHand::worker)
                .findFirst();
        owner.ifPresent(this::kill);
        return owner.isPresent();
    }

    private void kill(String victim) {
        provider.workerIsKilled(victim);
        workers.replace(victim);
        till.dropped(victim);
        journal.note(kind.label(), "killed", victim);
    }

    SideView view() throws SQLException {
        return new SideView(
                till.takings(),
                till.inHand(),
                servers.queues().size(kind),
                ready().size() == 0 ? 0 : fulfilments.recentP95Millis(RECENT),
                ready().stream().map(WorkerProcess::name).toList(),
                workers.living().stream()
                        .filter(worker -> !worker.isReady())
                        .map(WorkerProcess::name)
                        .toList());
    }

    @Override
    public void close() {
        workers.close();
        provider.close();
    }
}
