package smoke;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.JsonPath;
import io.exactlyonce.servers.LocalPostgres;
import io.exactlyonce.servers.LocalSqs;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootVersion;
import org.springframework.jdbc.core.JdbcTemplate;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * The packaged application on the JDK of {@code smoke.java}, with the PostgreSQL server of the class path, perhaps behind
 * the PgBouncer of {@code smoke.pgbouncer}. Each order is sent three times to each queue.
 */
class SmokeIT {

    private static final List<String> ORDERS = List.of("A-1", "A-2", "A-3", "A-4", "A-5");
    private static final int COPIES = 3;
    private static final int DUPLICATES = ORDERS.size() * (COPIES - 1);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String POOLER = System.getProperty("smoke.pgbouncer", "");

    @AutoClose
    private static LocalPostgres postgres;

    @AutoClose
    private static PgBouncer pooler;

    @AutoClose
    private static LocalSqs sqs;

    @AutoClose
    private static SqsClient client;

    private static JdbcTemplate database;

    @AutoClose
    private static Worker worker;


    @BeforeAll
    static void deliverEachOrderThreeTimes() throws IOException {
        postgres = LocalPostgres.start();
        database = new JdbcTemplate(postgres.dataSource());
        // PostgreSQL 14 lets every role create objects there, and startup warns of it.
        database.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        String url = postgres.getJdbcUrl();
        if (!POOLER.isEmpty()) {
            pooler = new PgBouncer(
                    POOLER, "host=127.0.0.1 port=" + postgres.port(), postgres.getUsername(), postgres.getPassword());
            url = pooler.jdbcUrl("postgres");
        }
        sqs = LocalSqs.start();
        client = LocalSqs.client(sqs.getEndpoint());
        for (String queue : List.of("single", "batch", "fifo.fifo", "database", "observed")) {
            create(queue);
            send(queue);
        }

        Path java = Path.of(System.getProperty("smoke.java", System.getProperty("java.home")), "bin", "java");
        worker = new Worker(
                        java,
                        Map.of(
                                "SPRING_DATASOURCE_URL", url,
                                "SPRING_DATASOURCE_USERNAME", postgres.getUsername(),
                                "SPRING_DATASOURCE_PASSWORD", postgres.getPassword(),
                                "SPRING_CLOUD_AWS_ENDPOINT", sqs.getEndpoint().toString(),
                                "SPRING_CLOUD_AWS_CREDENTIALS_ACCESS_KEY", sqs.getAccessKey(),
                                "SPRING_CLOUD_AWS_CREDENTIALS_SECRET_KEY", sqs.getSecretKey(),
                                // The property has no effect on a JDK without virtual threads.
                                "SPRING_THREADS_VIRTUAL_ENABLED", "true"))
                .awaitStart();
    }

    /** Creates a queue and its dead-letter queue. */
    private static void create(String queue) {
        Map<QueueAttributeName, String> attributes = new HashMap<>();
        if (queue.endsWith(".fifo")) {
            attributes.put(QueueAttributeName.FIFO_QUEUE, "true");
        }
        String dead = client.createQueue(request -> request.queueName("dead-" + queue).attributes(attributes))
                .queueUrl();
        String arn = client.getQueueAttributes(
                        request -> request.queueUrl(dead).attributeNames(QueueAttributeName.QUEUE_ARN))
                .attributes()
                .get(QueueAttributeName.QUEUE_ARN);
        attributes.put(
                QueueAttributeName.REDRIVE_POLICY,
                "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":\"8\"}".formatted(arn));
        client.createQueue(request -> request.queueName(queue).attributes(attributes));
    }

    private static void send(String queue) {
        String url = client.getQueueUrl(request -> request.queueName(queue)).queueUrl();
        boolean isFifo = queue.endsWith(".fifo");
        for (int copy = 0; copy < COPIES; copy++) {
            for (String order : ORDERS) {
                String deduplication = order + "-" + copy;
                client.sendMessage(request -> request.queueUrl(url)
                        .messageBody("{\"orderId\":\"%s\"}".formatted(order))
                        .messageGroupId(isFifo ? "group" : null)
                        .messageDeduplicationId(isFifo ? deduplication : null));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "batch", "fifo", "database"})
    void effectOfEachOrderHappensOnceAndDuplicatesAreDeleted(String listener) {
        String queue = listener.equals("fifo") ? "fifo.fifo" : listener;

        eventually(() -> {
            assertThat(JsonPath.<List<Integer>>read(
                            body("exactlyonce"),
                            "$.listeners[?(@.listener == '%s')].sinceStart.duplicatesSuppressed".formatted(listener)))
                    .containsExactly(DUPLICATES);
            assertThat(messages(queue)).isZero();
        });

        List<String> orders = effects("order_id", listener);
        assertThat(orders).containsExactlyInAnyOrderElementsOf(ORDERS);
        if (listener.equals("fifo")) {
            assertThat(orders).isEqualTo(ORDERS);
        }
        assertThat(messages("dead-" + queue)).isZero();
    }

    @Test
    void observedListenerHandlesEachCopyAndCountsTheDoubleEffects() {
        eventually(() -> {
            Map<String, Integer> prevented = JsonPath.read(
                    body("exactlyonce"), "$.observed[0].sinceStart['duplicate', 'overlap']");
            assertThat(prevented.get("duplicate") + prevented.get("overlap")).isEqualTo(DUPLICATES);
            assertThat(messages("observed")).isZero();
        });

        assertThat(effects("order_id", "observed")).hasSize(ORDERS.size() * COPIES);
    }

    @Test
    void endpointShowsAClaim() {
        eventually(() -> {
            String claim = body("exactlyonce?scope=single&key=A-1");
            assertThat(JsonPath.<String>read(claim, "$.claim.status")).isEqualTo("COMPLETED");
            assertThat(JsonPath.<Integer>read(claim, "$.claim.attempt")).isEqualTo(1);
        });
    }

    @Test
    void consoleIsAPage() throws Exception {
        HttpResponse<String> page = worker.get("exactlyonceconsole");

        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Type")).hasValueSatisfying(type -> assertThat(type)
                .startsWith("text/html"));
        assertThat(page.body()).contains("</html>");
    }

    @Test
    void metersCountTheDuplicates() {
        eventually(() -> assertThat(body("prometheus"))
                .containsPattern("exactly_once_claims_total\\{listener=\"database\",outcome=\"already_completed\",.*} %d\\.0"
                        .formatted(DUPLICATES)));
    }

    @Test
    void applicationIsHealthy() throws Exception {
        assertThat(body("health")).contains("\"UP\"");
    }

    /** The observed listener runs on the threads of Spring Cloud AWS, which are platform threads. */
    @ParameterizedTest
    @ValueSource(strings = {"single", "batch", "fifo", "database"})
    void handlersRunOnVirtualThreadsFromJava21On(String listener) throws Exception {
        boolean hasThem = Runtime.Version.parse(worker.java()).feature() >= 21;

        eventually(() -> assertThat(effects("thread", listener)).hasSameSizeAs(ORDERS));
        assertThat(effects("thread", listener)).allMatch(thread -> thread.startsWith("VirtualThread") == hasThem);
    }

    /** The observed listener alone may warn, of double effects. */
    @AfterAll
    static void applicationStopsAndHasLoggedNoWarning() throws Exception {
        assertThat(worker.stop()).as("exit code after SIGTERM").isEqualTo(143);
        assertThat(worker.lines("WARN")).allMatch(line -> line.contains("'observed'"));
        assertThat(worker.lines("ERROR")).isEmpty();
        System.out.printf(
                "smoke: Java %s, Spring Boot %s, PostgreSQL %s%s%n",
                worker.java(),
                SpringBootVersion.getVersion(),
                database.queryForObject("SHOW server_version", String.class),
                POOLER.isEmpty() ? "" : ", PgBouncer");
    }

    private static List<String> effects(String column, String listener) {
        return database.queryForList(
                "SELECT %s FROM effect WHERE listener = ? ORDER BY id".formatted(column), String.class, listener);
    }

    private static int messages(String queue) {
        String url = client.getQueueUrl(request -> request.queueName(queue)).queueUrl();
        return client
                .getQueueAttributes(request -> request.queueUrl(url).attributeNames(QueueAttributeName.ALL))
                .attributes()
                .entrySet()
                .stream()
                .filter(attribute -> attribute.getKey().toString().startsWith("ApproximateNumberOfMessages"))
                .mapToInt(attribute -> Integer.parseInt(attribute.getValue()))
                .sum();
    }

    private static String body(String path) throws IOException, InterruptedException {
        HttpResponse<String> response = worker.get(path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    private static void eventually(ThrowingCallable assertion) {
        await().atMost(PATIENCE).untilAsserted(assertion::call);
    }
}
