package io.exactlyonce.benchmarks.startup;

import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.benchmarks.process.ChildJvm;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.worker.Protection;
import java.util.ArrayList;
import java.util.List;

/** An application that starts, listens, and ends. Its figure is the time in milliseconds since the JVM's start. */
final class StartUp implements Contestant {

    private static final int WINDOW_SECONDS = 60;
    private static final List<String> LISTENING = List.of("spring.cloud.aws.sqs.listener.auto-startup=true");
    private static final List<String> TABLES_EXIST =
            List.of("spring.cloud.aws.sqs.listener.auto-startup=true", "exactly-once.claim.initialize-schema=never");

    private final Servers servers;
    private final Protection protection;
    private final String name;
    private final boolean asksDatabase;

    /**
     * @param asksDatabase whether the application uses its database at startup for its own work, as most applications
     *     do
     */
    StartUp(Servers servers, Protection protection, String name, boolean asksDatabase) throws Exception {
        this.servers = servers;
        this.protection = protection;
        this.name = name;
        this.asksDatabase = asksDatabase;
        // The first start creates the tables.
        try (ChildJvm first = servers.startWorker(name, WINDOW_SECONDS, protection.name(), LISTENING)) {
            first.hear(Long.class);
        }
    }

    @Override
    public String name() {
        return protection.label() + (asksDatabase ? ", application uses its database" : "");
    }

    /** Does nothing, because the first start is the warm-up. */
    @Override
    public void warmUp(Turn turn) {
        // Each start uses a new JVM.
    }

    @Override
    public Reading run(Turn turn) throws Exception {
        List<String> properties = new ArrayList<>(TABLES_EXIST);
        properties.add("spring.sql.init.mode=" + (asksDatabase ? "always" : "never"));
        try (ChildJvm worker = servers.restartWorker(name, protection.name(), properties)) {
            return Reading.of(worker.hear(Long.class));
        }
    }
}
