package io.exactlyonce.benchmarks.inflight;

import io.exactlyonce.benchmarks.Measurements;
import io.exactlyonce.benchmarks.process.ChildJvm;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.worker.Hold;
import io.exactlyonce.benchmarks.worker.Order;
import io.exactlyonce.benchmarks.worker.Protection;
import io.exactlyonce.benchmarks.worker.Task;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** A worker that holds messages. Its handlers need no thread. */
final class HoldingWorker implements AutoCloseable {

    private static final int THREADS = 20;

    /**
     * Connections in addition to one for each poll that may wait for messages. Otherwise polls would take the
     * connections of renewals and deletions.
     */
    private static final int CONNECTIONS = 50;

    private final Servers servers;
    private final Protection protection;
    private final String queue;
    private final ChildJvm worker;
    private Hold.@Nullable Result result;

    HoldingWorker(Servers servers, Protection protection, String queue, int windowSeconds, int messages)
            throws IOException, SQLException {
        this.servers = servers;
        this.protection = protection;
        this.queue = queue;
        this.worker = servers.startWorker(
                queue,
                windowSeconds,
                protection.name(),
                List.of(
                        "bench.threads=" + THREADS,
                        "bench.window=" + windowSeconds,
                        "bench.connections=" + (messages / 10 + CONNECTIONS),
                        "spring.cloud.aws.sqs.listener.max-concurrent-messages=" + messages));
        worker.hear(Long.class);
    }

    String name() {
        return protection.label();
    }

    /** Sends messages, and starts to hold them. */
    void begin(Hold hold) throws Exception {
        List<String> bodies = IntStream.range(0, hold.messages())
                .mapToObj(number -> new Order(UUID.randomUUID().toString(), number, 1_000))
                .map(JsonMapper.shared()::writeValueAsString)
                .toList();
        servers.queues().send(queue, bodies);
        worker.tell(Task.of(hold));
    }

    /** Waits until all messages are released. */
    void end() throws IOException {
        result = worker.hear(Hold.Result.class);
        if (protection.isOurs() && result.duplicates() + result.lost() > 0) {
            throw new IllegalStateException("%s: %s".formatted(protection.label(), result));
        }
    }

    double median(ToDoubleFunction<Hold.Part> figure) {
        return Measurements.median(
                result().parts().stream().map(figure::applyAsDouble).toList());
    }

    double heapBytes() {
        return result().heapBytes();
    }

    private Hold.Result result() {
        if (result == null) {
            throw new IllegalStateException("%s has not ended".formatted(protection));
        }
        return result;
    }

    /** Returns a row of a table. */
    String row() {
        return "| %s | %,.0f | %.1f | %,.0f | %s |%n"
                .formatted(
                        protection.label(),
                        median(Hold.Part::changes),
                        median(Hold.Part::corePercent),
                        heapBytes(),
                        faults());
    }

    private String faults() {
        Hold.Result ended = result();
        return ended.duplicates() + ended.lost() == 0
                ? ""
                : "%,d duplicates, %,d lost".formatted(ended.duplicates(), ended.lost());
    }

    /** Kills the worker. Otherwise it would hold its messages for as long as its listener waits for handlers. */
    @Override
    public void close() {
        worker.kill();
    }
}
