package io.exactlyonce.benchmarks.latency;

import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.benchmarks.process.ChildJvm;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.worker.Drain;
import io.exactlyonce.benchmarks.worker.Order;
import io.exactlyonce.benchmarks.worker.Protection;
import io.exactlyonce.benchmarks.worker.Task;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;

/**
 * A worker that gets one message at a time, and deletes each at once. Its figure is the median time for which it has a
 * message.
 */
final class PacedListener implements Contestant, AutoCloseable {

    private static final int WINDOW_SECONDS = 60;
    private static final int SETTLING = 20;

    /** The column with the 99th percentile. */
    static final String P99 = "p99, microseconds";

    private final Servers servers;
    private final Protection protection;
    private final String queue;
    private final ChildJvm worker;

    PacedListener(Servers servers, Protection protection, String queue) throws IOException, SQLException {
        this.servers = servers;
        this.protection = protection;
        this.queue = queue;
        this.worker = servers.startWorker(
                queue, WINDOW_SECONDS, protection.name(), List.of("bench.acknowledge-at-once=true"));
        worker.hear(Long.class);
    }

    @Override
    public String name() {
        return protection.label();
    }

    /**
     * Warms up as fast as possible, and then with some paced messages. Paced messages alone would take too long to make
     * the code fast.
     */
    @Override
    public void warmUp(Turn turn) throws Exception {
        int messages = turn.messages();
        List<String> orders =
                IntStream.range(0, messages).mapToObj(PacedListener::order).toList();
        servers.queues().send(queue, orders);
        worker.ask(Task.of(new Drain(messages, messages)), Drain.Result.class);
        paced(SETTLING);
    }

    private static String order(int number) {
        return JsonMapper.shared()
                .writeValueAsString(new Order(UUID.randomUUID().toString(), number, 1_000));
    }

    @Override
    public Reading run(Turn turn) throws Exception {
        Drain.Result result = paced(turn.messages());
        return new Reading(result.medianMicros(), Map.of(P99, result.p99Micros()));
    }

    private Drain.Result paced(int messages) throws Exception {
        worker.tell(Task.of(new Drain(messages, messages)));
        int number = 0;
        for (Pace pace = new Pace(messages); pace.await(); number++) {
            servers.queues().send(queue, List.of(order(number)));
        }
        Drain.Result result = worker.hear(Drain.Result.class);
        if (result.lost() + result.duplicates() + result.undeleted() > 0) {
            throw new IllegalStateException("%s: %s".formatted(name(), result));
        }
        return result;
    }

    @Override
    public void close() throws IOException {
        worker.close();
    }
}
