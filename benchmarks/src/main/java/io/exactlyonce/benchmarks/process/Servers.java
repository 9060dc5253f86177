package io.exactlyonce.benchmarks.process;

import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What workers need, each in a process of its own.
 *
 * @param postgres keeps claims, and what handlers write
 * @param queues bring messages
 * @param sqsPort where workers find the queues
 * @param databasePort where workers find their databases
 */
public record Servers(Postgres postgres, Queues queues, int sqsPort, int databasePort) implements AutoCloseable {

    /** Starts both. */
    public static Servers start() throws IOException {
        Postgres postgres = new Postgres();
        Queues queues = new Queues();
        return new Servers(postgres, queues, queues.port(), postgres.port());
    }

    /** Returns the same servers as workers find them behind other ports. Only the original need be closed. */
    public Servers behind(int otherSqsPort, int otherDatabasePort) {
        return new Servers(postgres, queues, otherSqsPort, otherDatabasePort);
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
