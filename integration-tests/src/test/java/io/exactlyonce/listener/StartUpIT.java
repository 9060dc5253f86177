package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProviderChain;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.profiles.ProfileFile;

/** Mistakes fail startup, with an analysis that names the value and the remedy. The messages stay in their queues. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class StartUpIT {

    private static final String ENDPOINT = "spring.cloud.aws.sqs.endpoint";
    private static final SqsServer SQS = SqsServer.shared();
    private static final String REGION =
            SQS.client().serviceClientConfiguration().region().id();

    record Order(String orderId) {}

    static class Good {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order.orderId")
        void handle(Order order) {
            throw new AssertionError("no message may be handled");
        }
    }

    static class Unnamed {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.orderId")
        void handle(Order order) {}
    }

    static class DoesNotParse {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.orderId +")
        void handle(Order order) {}
    }

    static final class FinalClass {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.orderId")
        void handle(Order order) {}
    }

    record RecordListener(ObjectProvider<String> anything) {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.orderId")
        void handle(Order order) {}
    }

    static class NoQueue {
        @ExactlyOnceListener(key = "#order.orderId")
        void handle(Order order) {}
    }

    static class PlainWithOurFactory {
        @SqsListener(id = "plain", queueNames = "${test.queue}", factory = "exactlyOnceListenerContainerFactory")
        void handle(Order order) {}
    }

    static class ListensTwice {
        @SqsHandler
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.orderId")
        void handle(Order order) {}
    }

    @ExactlyOnceListener(queueNames = "${test.queue}")
    static class BatchOfAClass {
        @SqsHandler
        void handle(List<Order> orders, List<Claim> claims) {}
    }

    @ExactlyOnceListener(queueNames = "${test.queue}")
    static class FutureOfAClass {
        @SqsHandler
        CompletableFuture<Void> handle(Order order) {
            return CompletableFuture.completedFuture(null);
        }
    }

    private final String queue = SQS.createQueue(30);
    private final String database = EmbeddedDatabase.shared().createDatabase();

    /** No provider of the default chain has credentials. The test does not query the environment of its machine. */
    static class NoCredentials extends Good {
        @Bean
        AwsCredentialsProvider credentials() {
            return AwsCredentialsProviderChain.of(ProfileCredentialsProvider.builder()
                    .profileFile(noProfiles())
                    .build());
        }
    }

    private static ProfileFile noProfiles() {
        return ProfileFile.aggregator().build();
    }

    @Test
    void startIsLoggedInOneLineForEachListenerWithoutSecrets(CapturedOutput output) {
        String secret = database + "?user=" + EmbeddedDatabase.shared().username() + "&password="
                + EmbeddedDatabase.shared().password();
        TestApplication.start(database, Map.of("test.queue", queue, "spring.datasource.url", secret), Good.class)
                .close();

        assertThat(output)
                .contains(" orders: queue " + queue + ", key #order.orderId, visibility timeout 30s renewed every 15s,"
                        + " no dead-letter queue, claims on " + database.substring("jdbc:postgresql://".length())
                        + " (primary), retention 18d")
                .doesNotContain(EmbeddedDatabase.shared().password());
        assertThat(output.getAll().lines().filter(line -> line.contains("orders: queue ")))
                .hasSize(1);
    }

    private void assertStopped(
            CapturedOutput output, Class<?> listener, Map<String, String> properties, String... explanation) {
        SQS.send(queue, "{\"orderId\":\"o1\"}");
        Map<String, String> all = new HashMap<>(Map.of("test.queue", queue));
        all.putAll(properties);
        assertThatThrownBy(() -> TestApplication.start(database, all, listener).close())
                .isInstanceOf(Exception.class);
        assertThat(output).contains("APPLICATION FAILED TO START").contains(explanation);
        assertThat(SQS.size(queue)).isEqualTo(1);
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(DoesNotParse.class, "'#order.orderId +' does not parse", "write SpEL"),
                Arguments.of(
                        FinalClass.class,
                        "StartUpIT$FinalClass is final, which cannot have a proxy that claims keys",
                        "make the class non-final"),
                Arguments.of(RecordListener.class, "RecordListener is a record", "make it an ordinary class"),
                Arguments.of(
                        PlainWithOurFactory.class,
                        "Listener 'plain' names the container factory 'exactlyOnceListenerContainerFactory'",
                        "use @ExactlyOnceListener"),
                Arguments.of(NoQueue.class, "StartUpIT$NoQueue.handle: it names no queue", "set queueNames"),
                Arguments.of(
                        ListensTwice.class, "ListensTwice.handle: it also has @SqsHandler", "leave @SqsHandler off"),
                Arguments.of(BatchOfAClass.class, "BatchOfAClass.handle: it takes batches", "take a single message"),
                Arguments.of(
                        FutureOfAClass.class,
                        "FutureOfAClass.handle: its result is asynchronous",
                        "return when the work is done"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void listenerThatCannotWork(Class<?> listener, String problem, String remedy, CapturedOutput output) {
        assertStopped(output, listener, Map.of(), problem, remedy);
        assertThat(output).doesNotContain("Could not generate CGLIB subclass");
    }

    @Test
    void settingsOfAListenerThatThereIsNot(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of("exactly-once.listeners.order.retention", "30d"),
                "exactly-once.listeners has settings for ids that no @ExactlyOnceListener has (existing ids: orders): order (set by ",
                "correct the id, give the listener this id, or remove the settings");
    }

    /** The number in a generated id changes with the code, so the properties of the old id would no longer apply. */
    @Test
    void settingsOfAListenerByItsGeneratedId(CapturedOutput output) {
        String generated = "io.awspring.cloud.sqs.sqsListenerEndpointContainer#0";

        assertStopped(
                output,
                Unnamed.class,
                Map.of("exactly-once.listeners[" + generated + "].mode", "observe"),
                "exactly-once.listeners has settings for ids that no @ExactlyOnceListener has (existing ids: none): "
                        + generated,
                "give the listener this id");
    }

    @Test
    void claimsDatabaseThatIsNotUtf8IsRefused(CapturedOutput output) {
        String latin = EmbeddedDatabase.shared().createLatin1Database();

        assertStopped(
                output,
                Good.class,
                Map.of(
                        "exactly-once.datasource.url",
                        latin,
                        "exactly-once.datasource.username",
                        EmbeddedDatabase.shared().username(),
                        "exactly-once.datasource.password",
                        EmbeddedDatabase.shared().password()),
                "keeps text in LATIN1 (server_encoding), but claims need UTF8",
                "and point exactly-once.datasource.url at it");
    }

    @Test
    void queueThatDoesNotExist(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of("test.queue", "no-such-queue"),
                "Queue 'no-such-queue' of listener 'orders' is not available: there is no such queue (region "
                        + REGION
                        + ", endpoint "
                        + shown(SQS.properties().getOrDefault(ENDPOINT, "of AWS")),
                "Create the queue 'no-such-queue' with a dead-letter queue",
                "in another region than '" + REGION + "'");
    }

    /** The path of a URL may contain a secret. */
    private static String shown(String endpoint) {
        return endpoint.replaceFirst("(?<=\\w)/.*", "");
    }

    @Test
    void credentialsThatNoProviderHas(CapturedOutput output) {
        assertStopped(
                output,
                NoCredentials.class,
                Map.of(),
                "no AWS credentials were found (region " + REGION + ", endpoint ",
                "Give the application credentials",
                "software.amazon.awssdk:sts");
    }

    @Test
    void endpointThatRefusesConnections(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of(ENDPOINT, "http://127.0.0.1:1"),
                "no SQS server answers (region " + REGION + ", endpoint http://127.0.0.1:1)",
                "Start the SQS server at http://127.0.0.1:1, or correct " + ENDPOINT);
    }

    /** The missing queue is detected first, because containers look up their queues while the database check runs. */
    @Test
    void databaseThatIsDownIsReportedBeforeAQueueThatDoesNotExist(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of("spring.datasource.url", "jdbc:postgresql://127.0.0.1:1/orders", "test.queue", "no-such-queue"),
                "No connection to 127.0.0.1:1/orders",
                "check that the database is up");
        assertThat(output).doesNotContain("Create the queue 'no-such-queue'");
    }

    /** The database accepts connections but sends nothing. */
    @Test
    void anotherMistakeFailsStartupWhileASilentDatabaseIsBeingChecked(CapturedOutput output) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            assertStopped(
                    output,
                    DoesNotParse.class,
                    Map.of("spring.datasource.url", "jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/orders"),
                    "'#order.orderId +' does not parse");
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .as("threads of an application that did not start")
                .noneMatch(name -> name.startsWith("exactly-once-start"))
                .noneMatch(name -> name.startsWith("exactly-once-claims"));
    }

    @Test
    void tableThatIsNotThereThoughBeansAreLazy(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of("exactly-once.claim.initialize-schema", "never", "spring.main.lazy-initialization", "true"),
                "Table exactly_once_claim is missing",
                "exactly-once.claim.initialize-schema=always");
    }
}
