package io.exactlyonce.listener.aot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.ReloadingClassLoader;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** An application that is restarted in one JVM, with its own classes loaded again, as devtools does. */
@Tag("ci")
@UsesSqs
class RestartIT {

    private static final int RESTARTS = 2;

    @Test
    void restartedApplicationReadsPayloadsOfItsOwnAndLeavesNoThreads() throws Exception {
        String url = EmbeddedDatabase.shared().createDatabase();
        String queue = SqsServer.shared().createQueue(30);
        // The JDK's own timer keeps the class loader of its first user.
        CompletableFuture.runAsync(() -> {}, CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS))
                .join();

        for (int start = 0; start <= RESTARTS; start++) {
            int handled = start + 1;
            try (ConfigurableApplicationContext application = start(url, queue)) {
                assertThat(application.getBeanFactory().getBeanClassLoader()).isInstanceOf(ReloadingClassLoader.class);
                SqsServer.shared().send(queue, "{\"customer\":{\"name\":\"Ada %d\"}}".formatted(start));
                await().until(() -> completed(url) == handled);
                await().until(() -> SqsServer.shared().size(queue) == 0);
            }
        }

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(left()).isEmpty());
    }

    private static ConfigurableApplicationContext start(String url, String queue) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        ClassLoader reloading = new ReloadingClassLoader(PreparedApplication.class);
        Thread.currentThread().setContextClassLoader(reloading);
        try {
            return new SpringApplicationBuilder(reloading.loadClass(PreparedApplication.class.getName()))
                    .properties(Map.of("spring.jmx.enabled", "false"))
                    .run(TestApplication.arguments(
                            url, Map.of("test.queue", queue, "spring.main.web-application-type", "none")));
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private static int completed(String url) {
        return JdbcClient.create(EmbeddedDatabase.shared().dataSource(url))
                .sql("SELECT count(*) FROM exactly_once_claim WHERE status = 'COMPLETED'")
                .query(Integer.class)
                .single();
    }

    /**
     * Leaves out two kinds of threads. Amazon's clients share some, whose number does not grow with restarts. The
     * thread of application events ends a second after the last event.
     */
    private static List<Thread> left() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> Stream.of("aws-java-sdk-NettyEventLoop", "exactly-once-events-")
                        .noneMatch(thread.getName()::startsWith))
                .filter(thread -> thread.getContextClassLoader() instanceof ReloadingClassLoader)
                .toList();
    }
}
