package io.exactlyonce.load;

import static org.awaitility.Awaitility.await;

import io.exactlyonce.servers.LocalSqs;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.WorkerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** An SQS server in its own process, so that a million messages do not use the application's memory. */
final class QueueProcess implements AutoCloseable {

    private static final String SAYS = "serves on port ";
    private static final Pattern SAID = Pattern.compile(SAYS + "(\\d+)\\R");

    private final WorkerProcess process;
    private final SqsServer server;

    private QueueProcess(WorkerProcess process, SqsServer server) {
        this.process = process;
        this.server = server;
    }

    /**
     * Starts a server.
     *
     * @param memory the memory for its messages, such as {@code 3g}
     * @param directory the folder of its output
     */
    static QueueProcess start(String memory, Path directory) throws IOException {
        WorkerProcess process = WorkerProcess.start(
                List.of("-Xmx" + memory, "-cp", System.getProperty("java.class.path")), QueueProcess.class, directory);
        Path output = directory.resolve("worker.log");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> SAID.matcher(Files.readString(output)).find());
        String port = SAID.matcher(Files.readString(output))
                .results()
                .map(MatchResult::group)
                .map(said -> said.strip().substring(SAYS.length()))
                .findFirst()
                .orElseThrow();
        return new QueueProcess(process, SqsServer.at(LocalSqs.endpoint(Integer.parseInt(port))));
    }

    SqsServer server() {
        return server;
    }

    @Override
    public void close() {
        process.close();
    }

    /** Serves until the test's process is gone, even if that process could not stop this one. */
    public static void main(String[] arguments) throws IOException {
        System.out.println(SAYS + LocalSqs.start().getEndpoint().getPort());
        while (System.in.read() >= 0) {
            // Waits for the end of the input, because the test sends nothing.
        }
        System.exit(0);
    }
}
