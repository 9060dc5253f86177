package io.exactlyonce.listener.aot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.exactlyonce.testing.WorkerProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.jdbc.core.simple.JdbcClient;

/** An application whose beans are prepared ahead of time, as for a native image, and then started in a JVM. */
@Tag("ci")
@UsesSqs
class AheadOfTimeIT {

    /** Two JVMs start one after the other, and both begin without compiled code. */
    private static final Duration LONGEST = Duration.ofMinutes(4);

    /** Leaves out libraries that only other tests need, because preparing their beans takes long or needs a server. */
    private static final String CLASS_PATH = Stream.of(
                    System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> Stream.of("spring-integration", "spring-data", "hibernate", "spring-orm", "data-jpa")
                    .noneMatch(entry::contains))
            .collect(Collectors.joining(File.pathSeparator));

    @TempDir
    private Path directory;

    @Test
    void preparedApplicationHandlesADuplicateOnce() throws IOException {
        String url = EmbeddedDatabase.shared().createDatabase();
        String queue = SqsServer.shared().createQueue(30);
        String[] arguments = TestApplication.arguments(url, Map.of("test.queue", queue, "spring.jmx.enabled", "false"));
        prepare(arguments);

        try (WorkerProcess application = WorkerProcess.start(
                shortLived("-Dspring.aot.enabled=true", "-cp", prepared() + CLASS_PATH),
                PreparedApplication.class,
                directory,
                arguments)) {
            SqsServer.shared().send(queue, "{\"customer\":{\"name\":\"Ada\"}}");
            SqsServer.shared().send(queue, "{\"customer\":{\"name\":\"Ada\"}}");

            await().atMost(LONGEST)
                    .failFast(() -> assertThat(application.isAlive()).as(log()).isTrue())
                    .ignoreExceptions()
                    .until(() -> results(url).equals(List.of("{\"customer\":\"Ada\",\"attempt\":1}")));
            await().until(() -> SqsServer.shared().size(queue) == 0);
        }
        assertThat(log()).contains("Starting AOT-processed PreparedApplication");
        assertThat(results(url)).hasSize(1);
        assertThat(hints())
                .contains("exactly_once_claim.sql")
                .contains("io.exactlyonce.listener.aot.PreparedApplication$Customer");
    }

    private static List<String> shortLived(String... options) {
        return Stream.concat(WorkerProcess.SHORT_LIVED.stream(), Stream.of(options))
                .toList();
    }

    /** Does the same as Boot's build plugins: generates code and compiles it. */
    private void prepare(String[] arguments) throws IOException {
        List<String> all = new ArrayList<>(Stream.of("sources", "resources", "classes")
                .map(kind -> directory.resolve(kind).toString())
                .toList());
        all.addAll(List.of("io.exactlyonce", "prepared"));
        all.add(0, PreparedApplication.class.getName());
        all.addAll(List.of(arguments));
        try (WorkerProcess processor = WorkerProcess.start(
                shortLived("-cp", CLASS_PATH),
                SpringApplicationAotProcessor.class,
                directory,
                all.toArray(String[]::new))) {
            await().atMost(LONGEST).until(() -> !processor.isAlive());
        }
        assertThat(directory.resolve("sources")).as(log()).isDirectory();
        List<String> options = new ArrayList<>(List.of(
                "-proc:none",
                "-nowarn",
                "-d",
                directory.resolve("classes").toString(),
                "-cp",
                prepared() + CLASS_PATH));
        try (Stream<Path> sources = Files.walk(directory.resolve("sources"))) {
            sources.filter(file -> file.toString().endsWith(".java")).forEach(file -> options.add(file.toString()));
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, options.toArray(String[]::new)))
                .as(log())
                .isZero();
    }

    private String prepared() {
        return directory.resolve("classes") + File.pathSeparator + directory.resolve("resources") + File.pathSeparator;
    }

    private static List<String> results(String url) {
        return JdbcClient.create(EmbeddedDatabase.shared().dataSource(url))
                .sql("SELECT result FROM exactly_once_claim WHERE status = 'COMPLETED'")
                .query(String.class)
                .list();
    }

    private String log() throws IOException {
        return Files.readString(directory.resolve("worker.log"));
    }

    private String hints() throws IOException {
        return Files.readString(directory.resolve(
                "resources/META-INF/native-image/io.exactlyonce/prepared/reachability-metadata.json"));
    }
}
