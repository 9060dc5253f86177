package io.exactlyonce.benchmarks.drain;

import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.benchmarks.process.ChildJvm;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.worker.Drain;
import io.exactlyonce.benchmarks.worker.Task;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A worker in a separate JVM that drains its queue. */
final class DrainingListener implements Contestant, AutoCloseable {

    private static final int WINDOW_SECONDS = 60;

    /** The processor time of the worker's process. */
    static final String CLIENT_CPU = "client's CPU, us a message";

    /** The same without the threads of the JIT compiler. */
    static final String CLIENT_CPU_WITHOUT_JIT = "client's CPU without the JIT compiler, us a message";

    /**
     * Allocated bytes, which the JVM counts for each of its threads, so that other work on the machine hardly changes
     * them.
     */
    static final String ALLOCATED = "bytes allocated a message";

    /** The processor time of all of PostgreSQL's processes. */
    static final String DATABASE_CPU = "database's CPU, us a message";

    /** Requests to DynamoDB, if claims are there. */
    static final String STORE_REQUESTS = "requests to DynamoDB a message";

    /** Write units of DynamoDB, if claims are there. */
    static final String STORE_WRITES = "write units a message";

    /** After a worker cancels a poll, the poll may still take messages for this long. */
    private static final long LAST_POLL = TimeUnit.MILLISECONDS.toNanos(1_200);

    private final Servers servers;
    private final Listener listener;
    private final String queue;
    private final int duplicates;
    private final ChildJvm worker;
    private int turns;
    private long stoppedAt = System.nanoTime() - LAST_POLL;
    private long duplicated;
    private long lost;
    private long undeleted;

    /**
     * Starts the worker.
     *
     * @param queue the name of its queue and its database
     * @param duplicates the number of messages of which one is a duplicate; 0 if none is
     */
    DrainingListener(Servers servers, Listener listener, String queue, int duplicates)
            throws IOException, SQLException {
        this.servers = servers;
        this.listener = listener;
        this.queue = queue;
        this.duplicates = duplicates;
        this.worker =
                servers.startWorker(queue, WINDOW_SECONDS, listener.protection().name(), listener.arguments());
        worker.hear(Long.class);
    }

    @Override
    public String name() {
        return listener.name();
    }

    @Override
    public Reading run(Turn turn) throws Exception {
        Orders orders = Orders.of(++turns, turn.messages(), duplicates);
        TimeUnit.NANOSECONDS.sleep(stoppedAt + LAST_POLL - System.nanoTime());
        servers.postgres().empty(queue);
        servers.queues().send(queue, orders.bodies());
        Duration before = servers.postgres().processorTime();
        Drain.Result result = worker.ask(Task.of(new Drain(turn.messages(), orders.different())), Drain.Result.class);
        Duration database = servers.postgres().processorTime().minus(before);
        stoppedAt = System.nanoTime();
        check(result);
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put(CLIENT_CPU, result.processorMicros());
        figures.put(CLIENT_CPU_WITHOUT_JIT, result.processorMicros() - result.compilerMicros());
        figures.put(ALLOCATED, result.allocatedBytes());
        figures.put(DATABASE_CPU, database.toNanos() / 1e3 / turn.messages());
        if (result.storeRequests() > 0) {
            figures.put(STORE_REQUESTS, result.storeRequests());
            figures.put(STORE_WRITES, result.storeWrites());
        }
        return new Reading(result.rate(), figures);
    }

    private void check(Drain.Result result) {
        duplicated += result.duplicates();
        lost += result.lost();
        undeleted += result.undeleted();
        if (listener.protection().isOurs() && !faults().isEmpty()) {
            throw new IllegalStateException("%s: %s".formatted(name(), faults()));
        }
    }

    @Override
    public String faults() {
        return (duplicated == 0 ? "" : "%,d duplicates ".formatted(duplicated))
                + (lost == 0 ? "" : "%,d lost ".formatted(lost))
                + (undeleted == 0 ? "" : "%,d not deleted".formatted(undeleted));
    }

    @Override
    public void close() throws IOException {
        worker.close();
    }
}
