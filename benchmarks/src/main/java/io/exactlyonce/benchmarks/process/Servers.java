package io.exactlyonce.benchmarks.process;

import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The servers of workers, each in a separate process.
 *
 * @param postgres keeps claims, and rows of handlers
 * @param queues has the messages
 * @param sqsPort the workers' port for queues
 * @param databasePort the workers' port for databases
 */
public record Servers(Postgres postgres, Queues queues, int sqsPort, int databasePort) implements AutoCloseable {

    /** Starts both. */
    public static Servers start() throws IOException {
        Postgres postgres = new Postgres();
        Queues queues = new Queues();
        return new Servers(postgres, queues, queues.port(), postgres.port());
    }

    /** Returns the same servers behind other ports. Only the original must be closed. */
    public Servers behind(int otherSqsPort, int otherDatabasePort) {
        return new Servers(postgres, queues, otherSqsPort, otherDatabasePort);
    }

    /**
     * Starts a worker with its own database and queue, which have the worker's name.
     *
     * @param protection the listener's protection against duplicates
     * @param properties properties of Spring Boot, as {@code name=value}
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
        arguments.add("--spring.datasource.url=" + Postgres.url(databasePort, name));
        arguments.add("--spring.datasource.username=postgres");
        arguments.add("--bench.queue=" + name);
        properties.forEach(property -> arguments.add("--" + property));
        return ChildJvm.start(
                Role.WORKER,
                arguments,
                Map.of(
                        "SPRING_DATASOURCE_PASSWORD",
                        LocalPostgres.password(),
                        "SPRING_CLOUD_AWS_SQS_ENDPOINT",
                        Queues.endpoint(sqsPort).toString()));
    }

    @Override
    public void close() throws IOException {
        queues.close();
        postgres.close();
    }
}
