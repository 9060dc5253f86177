package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.exactlyonce.testing.WorkerProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** A worker's JVM is killed while its handler runs. The next attempt is informed that the effect may have happened. */
@UsesSqs
class CrashIT {

    private static final SqsServer SQS = SqsServer.shared();

    /** A handler that writes its claim's state to a file, because its JVM is about to be killed. */
    @EnableAutoConfiguration
    static class Worker {
        private final Path report;
        private final boolean dies;

        Worker(@Value("${test.report}") Path report, @Value("${test.dies}") boolean dies) {
            this.report = report;
            this.dies = dies;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order, Claim claim) throws Exception {
            String line = "attempt=%d inDoubt=%s downstreamKey=%s%n"
                    .formatted(claim.attempt(), claim.isInDoubt(), claim.downstreamKey());
            Path unfinished = Files.writeString(report.resolveSibling(report.getFileName() + ".part"), line);
            Files.move(unfinished, report);
            if (dies) {
                new CountDownLatch(1).await();
            }
        }

        /** The child's main method. */
        public static void main(String[] arguments) {
            SpringApplication.run(Worker.class, arguments);
        }
    }

    @Test
    void attemptAfterACrashIsInDoubtAndHasTheSameDownstreamKey(@TempDir Path directory) throws Exception {
        String queue = SQS.createQueue(2);
        String database = EmbeddedDatabase.shared().createDatabase();
        Path first = directory.resolve("first");
        Path second = directory.resolve("second");
        SQS.send(queue, "o1");

        String[] arguments = TestApplication.arguments(database, properties(queue, first, true));
        try (WorkerProcess worker = WorkerProcess.start(Worker.class, directory, arguments)) {
            await().atMost(Duration.ofMinutes(4)).until(() -> Files.exists(first) || !worker.isAlive());
        }
        try (TestApplication application =
                TestApplication.start(database, properties(queue, second, false), Worker.class)) {
            await().atMost(Duration.ofMinutes(2)).until(() -> application.claims("COMPLETED") == 1);
            await().atMost(Duration.ofMinutes(2)).until(() -> SQS.size(queue) == 0);
        }

        String before = Files.readString(first);
        assertThat(before).startsWith("attempt=1 inDoubt=false");
        assertThat(Files.readString(second))
                .startsWith("attempt=2 inDoubt=true")
                .endsWith(keyOf(before));
    }

    private static String keyOf(String report) {
        return report.substring(report.indexOf("downstreamKey="));
    }

    private static Map<String, String> properties(String queue, Path report, boolean dies) {
        return Map.of(
                "test.queue",
                queue,
                "test.report",
                report.toString(),
                "test.dies",
                String.valueOf(dies),
                "spring.main.web-application-type",
                "none");
    }
}
