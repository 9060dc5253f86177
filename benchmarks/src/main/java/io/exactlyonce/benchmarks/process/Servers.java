package io.exactlyonce.benchmarks.process;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * What workers need, each in a process of its own.
 *
 * @param postgres keeps claims, and what handlers write
 * @param queues bring messages
 */
public record Servers(Postgres postgres, Queues queues) implements AutoCloseable {

    /** Starts both. */
    public static Servers start() throws IOException {
        return new Servers(new Postgres(), new Queues());
    }

    /**
     * Starts a worker with a database and a queue of its own, both with its name.
     *
     * @param protection how its listener protects itself
     * @param properties of Spring Boot, {@code name=value}
     */
    public ChildJvm startWorker(String name, int windowSeconds, String protection, List<String> properties)
            throws IOException, SQLException {
        postgres.create(name);
        queues.create(name, windowSeconds);
        return restartWorker(name, protection, properties);
    }

    /** Starts a worker again. */
    public ChildJvm restartWorker(String name, String protection, List<String> properties) throws IOException {
        List<String> arguments = new ArrayList<>();
        arguments.add(protection);
        arguments.add("--spring.datasource.url=" + postgres.url(name));
        arguments.add("--spring.datasource.username=postgres");
        arguments.add("--spring.cloud.aws.sqs.endpoint=" + queues.endpoint());
        arguments.add("--bench.queue=" + name);
        properties.forEach(property -> arguments.add("--" + property));
        return ChildJvm.start(Role.WORKER, arguments);
    }

    @Override
    public void close() throws IOException {
        queues.close();
        postgres.close();
    }
}
