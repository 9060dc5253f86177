package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.primary.ExactlyOnceDataSource;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.StreamingReplica;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProviderChain;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.profiles.ProfileFile;

/** Mistakes stop the start, with an analysis that names the value and the remedy; messages stay where they are. */
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

    static class DoesNotParse {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.orderId +")
        void handle(Order order) {}
    }

    static class UnknownArgument {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#oder.orderId")
        void handle(Order order) {}
    }

    static class UnknownProperty {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.ordrId")
        void handle(Order order) {}
    }

    static class FinalMethod {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.orderId")
        final void handle(Order order) {}
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

    static class TimesOutAtOnce {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order.orderId", timeout = "${test.timeout}")
        void handle(Order order) {}
    }

    private final String queue = SQS.createQueue(30);
    private final String database = EmbeddedDatabase.shared().createDatabase();

    /** No provider of the default chain has credentials; here, without asking the machine that runs the test. */
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
    void startIsToldInOneLineForEachListenerWithoutSecrets(CapturedOutput output) {
        String secret = database + "?user=" + EmbeddedDatabase.shared().username() + "&password=hunter2";
        TestApplication.start(database, Map.of("test.queue", queue, "spring.datasource.url", secret), Good.class)
                .close();

        assertThat(output)
                .contains(" orders: queue " + queue + ", key #order.orderId, window 30s renewed every 15s,"
                        + " no dead-letter queue, claims on " + database.substring("jdbc:postgresql://".length())
                        + " (primary), retention 18d")
                .doesNotContain("hunter2");
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

    @Test
    void keyExpressionThatDoesNotParse(CapturedOutput output) {
        assertStopped(output, DoesNotParse.class, Map.of(), "'#order.orderId +' does not parse", "write SpEL");
    }

    @Test
    void keyExpressionWithAnUnknownArgument(CapturedOutput output) {
        assertStopped(output, UnknownArgument.class, Map.of(), "'#oder'", "use one of #headers, #message, #order");
    }

    @Test
    void keyExpressionWithAnUnknownProperty(CapturedOutput output) {
        assertStopped(
                output, UnknownProperty.class, Map.of(), "'ordrId'", "name a property or record component of Order");
    }

    @Test
    void methodThatNoProxyCanIntercept(CapturedOutput output) {
        assertStopped(
                output, FinalMethod.class, Map.of(), "would run unclaimed", "make it a non-final instance method");
    }

    @Test
    void classThatNoProxyCanExtend(CapturedOutput output) {
        assertStopped(
                output,
                FinalClass.class,
                Map.of(),
                "@ExactlyOnceListener method io.exactlyonce.listener.StartUpIT$FinalClass.handle: its class",
                "is final, of which there can be no proxy that claims keys",
                "make the class non-final");
        assertThat(output).doesNotContain("Could not generate CGLIB subclass");
    }

    @Test
    void plainListenerThatNamesTheFactoryThatClaimsKeys(CapturedOutput output) {
        assertStopped(
                output,
                PlainWithOurFactory.class,
                Map.of(),
                "Listener 'plain' names the container factory 'exactlyOnceListenerContainerFactory'",
                "use @ExactlyOnceListener");
    }

    @Test
    void recordThatListens(CapturedOutput output) {
        assertStopped(
                output, RecordListener.class, Map.of(), "RecordListener is a record", "make it an ordinary class");
    }

    @Test
    void listenerWithoutAQueue(CapturedOutput output) {
        assertStopped(output, NoQueue.class, Map.of(), "StartUpIT$NoQueue.handle: it names no queue", "set queueNames");
    }

    @Test
    void methodThatWouldListenTwice(CapturedOutput output) {
        assertStopped(
                output,
                ListensTwice.class,
                Map.of(),
                "ListensTwice.handle: it has @SqsHandler",
                "leave @SqsHandler off");
    }

    @Test
    void handlerOfAClassThatTakesBatches(CapturedOutput output) {
        assertStopped(
                output,
                BatchOfAClass.class,
                Map.of(),
                "BatchOfAClass.handle: it takes batches",
                "take a single message");
    }

    @Test
    void handlerOfAClassThatIsAsynchronous(CapturedOutput output) {
        assertStopped(
                output,
                FutureOfAClass.class,
                Map.of(),
                "FutureOfAClass.handle: its result is asynchronous",
                "return when the work is done");
    }

    @Test
    void timeoutOutOfItsBounds(CapturedOutput output) {
        assertStopped(
                output,
                TimesOutAtOnce.class,
                Map.of("test.timeout", "5ms"),
                "its timeout '5ms' is no duration from 1s to 12h",
                "such as 90s or 5m");
    }

    @Test
    void claimsDatabaseThatIsNotUtf8IsRefused(CapturedOutput output) {
        String latin = EmbeddedDatabase.shared().createLatin1Database();

        assertStopped(
                output,
                Good.class,
                Map.of("exactly-once.datasource.url", latin, "exactly-once.datasource.username", "postgres"),
                "keeps text in LATIN1 (server_encoding), but claims need UTF8",
                "and let exactly-once.datasource.url lead there");
    }

    @Test
    void driverThatSendsStatementsApart(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of("spring.datasource.url", database + "?preferQueryMode=simple"),
                "in transactions of their own (preferQueryMode=simple)",
                "remove preferQueryMode=simple from spring.datasource.url");
    }

    static class OneConnection extends Good {
        @Bean(defaultCandidate = false)
        @ExactlyOnceDataSource
        HikariDataSource claims(DataSourceProperties application) {
            HikariDataSource pool = application
                    .initializeDataSourceBuilder()
                    .type(HikariDataSource.class)
                    .build();
            pool.setMaximumPoolSize(1);
            return pool;
        }
    }

    /** Trap: renewals were promised a second one, which was not there. */
    @Test
    void markedPoolOfOneConnection(CapturedOutput output) {
        assertStopped(
                output,
                OneConnection.class,
                Map.of(),
                "the DataSource marked @ExactlyOnceDataSource gives 1 connection, but claims need 2 at least",
                "raise the maximumPoolSize of its pool");
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
                        + SQS.properties().getOrDefault(ENDPOINT, "of AWS"),
                "Create the queue 'no-such-queue' with a dead-letter queue",
                "in another region than '" + REGION + "'");
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

    /** Where names are looked up slowly, the SDK gives up before it knows that there is no such host. */
    @Test
    void endpointWhoseHostIsUnknown(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of(ENDPOINT, "http://sqs.invalid:9324"),
                "(region " + REGION + ", endpoint http://sqs.invalid:9324)",
                ENDPOINT);
    }

    /** The queue is missed first: containers look their queues up while the database is still being asked. */
    @Test
    void databaseThatIsDownIsToldBeforeAQueueThatDoesNotExist(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of("spring.datasource.url", "jdbc:postgresql://127.0.0.1:1/orders", "test.queue", "no-such-queue"),
                "No connection to 127.0.0.1:1/orders",
                "check that the database is up");
        assertThat(output).doesNotContain("Create the queue 'no-such-queue'");
    }

    /** It accepts connections, and says nothing. */
    @Test
    void anotherMistakeStopsTheStartWhileASilentDatabaseIsBeingAsked(CapturedOutput output) throws Exception {
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
    void tableThatIsNotThere(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of("exactly-once.claim.initialize-schema", "never"),
                "Table exactly_once_claim is missing",
                "exactly-once.claim.initialize-schema=always");
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

    @Test
    void replicaInsteadOfAPrimary(CapturedOutput output) throws Exception {
        EmbeddedDatabase primary = EmbeddedDatabase.shared();
        try (StreamingReplica replica = new StreamingReplica(primary.dataSource(database), primary.port())) {
            assertStopped(
                    output,
                    Good.class,
                    Map.of(
                            "spring.datasource.url",
                            database.replace(":" + primary.port() + "/", ":" + replica.port() + "/")),
                    "leads to no primary: what answers plain reads there is a replica or read-only",
                    "point spring.datasource.url at the primary");
        }
    }

    @Test
    void databaseThatIsReadOnly(CapturedOutput output) {
        EmbeddedDatabase server = EmbeddedDatabase.shared();
        String name = database.substring(database.lastIndexOf('/') + 1);
        JdbcClient.create(server.dataSource(database))
                .sql("ALTER DATABASE " + name + " SET default_transaction_read_only = on")
                .update();
        assertStopped(
                output,
                Good.class,
                Map.of(),
                "what answers plain reads there is a replica or read-only",
                "point spring.datasource.url at the primary");
    }

    @Test
    void propertyOutOfItsBounds(CapturedOutput output) {
        assertStopped(
                output,
                Good.class,
                Map.of("exactly-once.renewal.at", "0.95"),
                "exactly-once.renewal.at (0.95) must be from 0.1 to 0.8");
    }
}
