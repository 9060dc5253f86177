package shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.audit.AuditReport;
import io.exactlyonce.audit.QueueAudit;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * README's quick start, as it stands there: the listener, its configuration, and a message that is delivered twice. Where {@code
 * SQS_SERVER} names a server, README's commands have made the queue there, and the audit must find nothing wrong with it.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@ExtendWith(OutputCaptureExtension.class)
class QuickStartTests {

    private static final String GIVEN = System.getenv("SQS_SERVER");
    private static final SQSRestServer SQS = GIVEN != null
            ? null
            : SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
    private static final String ENDPOINT = GIVEN != null
            ? GIVEN
            : "http://127.0.0.1:" + SQS.waitUntilStarted().localAddress().getPort();
    private static final EmbeddedPostgres DATABASE = database();

    @DynamicPropertySource
    static void servers(DynamicPropertyRegistry properties) {
        properties.add("spring.datasource.url", () -> DATABASE.getJdbcUrl("postgres", "postgres"));
        properties.add("spring.datasource.username", () -> "postgres");
        properties.add("spring.cloud.aws.endpoint", () -> ENDPOINT);
        properties.add("spring.cloud.aws.credentials.access-key", () -> "x");
        properties.add("spring.cloud.aws.credentials.secret-key", () -> "x");
        properties.add("DB_PASSWORD", () -> "postgres");
        if (GIVEN == null) {
            createQueue();
        }
    }

    private static EmbeddedPostgres database() {
        try {
            return EmbeddedPostgres.start();
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void createQueue() {
        try (SqsAsyncClient sqs = SqsAsyncClient.builder()
                .endpointOverride(URI.create(ENDPOINT))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("x", "x")))
                .build()) {
            sqs.createQueue(request ->
                            request.queueName("orders").attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "30")))
                    .join();
        }
    }

    @AfterAll
    static void stop() throws IOException {
        DATABASE.close();
        if (SQS != null) {
            SQS.stopAndWait();
        }
    }

    @Autowired
    private SqsTemplate template;

    @Autowired
    private SqsAsyncClient client;

    @Autowired
    private QueueAudit audit;

    @Value("${local.server.port}")
    private int port;

    @Test
    void orderThatIsSentTwiceIsFulfilledOnceAndTheWindowIsTold(CapturedOutput output) throws Exception {
        template.send("orders", new Order("A-1"));
        template.send("orders", new Order("A-1"));

        await().atMost(Duration.ofSeconds(30)).until(() -> output.getOut().contains("Order[orderId=A-1]"));
        await().atMost(Duration.ofSeconds(30)).until(this::messages, left -> left == 0);

        assertThat(output.getOut()).containsOnlyOnce("Order[orderId=A-1]");
        assertThat(scrape()).contains("exactly_once_window_utilization_ratio");
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "SQS_SERVER", matches = ".+")
    void auditFindsNothingWrongWithTheQueuesThatTheCommandsMake() {
        await().atMost(Duration.ofSeconds(30)).until(() -> !audit.reports().isEmpty());

        assertThat(audit.reports()).flatExtracting(AuditReport::findings).isEmpty();
    }

    private int messages() {
        return client
                .getQueueUrl(request -> request.queueName("orders"))
                .thenCompose(queue -> client.getQueueAttributes(request -> request.queueUrl(queue.queueUrl())
                        .attributeNames(
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE)))
                .join()
                .attributes()
                .values()
                .stream()
                .mapToInt(Integer::parseInt)
                .sum();
    }

    private String scrape() throws IOException, InterruptedException {
        URI prometheus = URI.create("http://127.0.0.1:%d/actuator/prometheus".formatted(port));
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(prometheus).build(), BodyHandlers.ofString())
                .body();
    }
}
