package io.exactlyonce.dynamodb.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.actuate.ExactlyOnceEndpoint;
import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.DynamoDbCompletion;
import io.exactlyonce.dynamodb.testing.LocalDynamoDb;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.servers.LocalSqs;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * An application with listeners and claims in DynamoDB. The application has no DataSource and no JDBC driver, and needs
 * no exclusions of auto-configurations for that.
 */
@ExtendWith(OutputCaptureExtension.class)
class ListenerOnDynamoDbIT {

    private static final LocalSqs SQS = LocalSqs.start();
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String WINDOW = "4";

    private static ConfigurableApplicationContext context;

    record Order(String orderId) {}

    record Call(String orderId, int attempt, boolean inDoubt) {}

    static class Fulfilment {

        private final List<Call> calls = new CopyOnWriteArrayList<>();

        /** Fields of the bean are not accessible, because listeners are proxied. */
        List<Call> calls() {
            return calls;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "orders", key = "#order.orderId")
        String fulfil(Order order, Claim claim) {
            calls.add(new Call(order.orderId(), claim.attempt(), claim.isInDoubt()));
            return "sent";
        }
    }

    /** A listener whose effect is in DynamoDB, in one transaction with the completion. */
    static class Payments {

        private final DynamoDbAsyncClient dynamoDb;
        private final DynamoDbCompletion completion;

        Payments(DynamoDbAsyncClient dynamoDb, DynamoDbCompletion completion) {
            this.dynamoDb = dynamoDb;
            this.completion = completion;
        }

        @ExactlyOnceListener(id = "payments", queueNames = "payments", key = "#order.orderId")
        void pay(Order order, Claim claim) {
            TransactWriteItem effect = TransactWriteItem.builder()
                    .update(update -> update.tableName("payments")
                            .key(Map.of("pk", AttributeValue.fromS(order.orderId())))
                            .updateExpression("ADD payments :one")
                            .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))))
                    .build();
            dynamoDb.transactWriteItems(request -> request.transactItems(effect, completion.of(claim)))
                    .join();
            if (order.orderId().startsWith("fails-after")) {
                throw new IllegalStateException("after the transaction");
            }
        }
    }

    /** An observed listener protects nothing, so the application must start although claims cannot work. */
    static class Trial {

        private final List<String> calls = new CopyOnWriteArrayList<>();

        List<String> calls() {
            return calls;
        }

        @ExactlyOnceListener(id = "trial", queueNames = "trial", key = "#order.orderId", mode = ClaimMode.OBSERVE)
        void fulfil(Order order) {
            calls.add(order.orderId());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OnlyObserved {

        @Bean
        Trial trial() {
            return new Trial();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Enforced {

        @Bean
        Fulfilment fulfilment() {
            return new Fulfilment();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Fulfilment fulfilment() {
            return new Fulfilment();
        }

        @Bean
        Payments payments(DynamoDbCompletion completion) {
            DynamoDbAsyncClient own = LocalDynamoDb.shared().client();
            own.createTable(table -> table.tableName("payments")
                            .billingMode(BillingMode.PAY_PER_REQUEST)
                            .attributeDefinitions(AttributeDefinition.builder()
                                    .attributeName("pk")
                                    .attributeType(ScalarAttributeType.S)
                                    .build())
                            .keySchema(KeySchemaElement.builder()
                                    .attributeName("pk")
                                    .keyType(KeyType.HASH)
                                    .build()))
                    .join();
            return new Payments(own, completion);
        }

        /**
         * Creates the queues with a short visibility timeout, before Spring Cloud AWS would create them with the
         * default.
         */
        @Bean
        Object queues(SqsAsyncClient sqs) {
            return List.of("orders", "payments").stream()
                    .map(name -> sqs.createQueue(request -> request.queueName(name)
                                    .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, WINDOW)))
                            .join())
                    .toList();
        }
    }

    @BeforeAll
    static void start() {
        context = run(Application.class, "claims-of-listeners");
    }

    private static ConfigurableApplicationContext run(Class<?> application, String table, String... more) {
        return new SpringApplicationBuilder(application)
                .web(WebApplicationType.NONE)
                .properties(more)
                .run(
                        "--exactly-once.claim.store=dynamodb",
                        "--exactly-once.dynamodb.table-name=" + table,
                        "--exactly-once.retry.initial-delay=1s",
                        "--spring.cloud.aws.dynamodb.endpoint="
                                + LocalDynamoDb.shared().endpoint(),
                        "--spring.cloud.aws.sqs.endpoint=" + SQS.getEndpoint(),
                        "--spring.cloud.aws.region.static=us-east-1",
                        "--spring.cloud.aws.credentials.access-key=x",
                        "--spring.cloud.aws.credentials.secret-key=x",
                        "--spring.cloud.aws.sqs.listener.poll-timeout=1s",
                        "--spring.cloud.aws.sqs.listener.max-delay-between-polls=500ms",
                        "--management.endpoints.web.exposure.include=exactlyonce",
                        "--spring.main.banner-mode=off");
    }

    @AfterAll
    static void stop() {
        context.close();
        SQS.close();
    }

    @Test
    void duplicateIsNotHandledAgainAndThereIsNoDataSource() {
        assertThat(context.getBeanNamesForType(DataSource.class)).isEmpty();
        send("orders", "A-1");
        send("orders", "A-1");
        send("orders", "A-2");

        await().atMost(SOON).until(() -> messages("orders") == 0);

        assertThat(calls("A-1")).containsExactly(new Call("A-1", 1, false));
        assertThat(calls("A-2")).containsExactly(new Call("A-2", 1, false));
        assertThat(store().claim(List.of(claimOf("A-1", "orders")))).containsExactly(new AlreadyCompleted("\"sent\""));
    }

    @Test
    void keyOfAWorkerThatDiedIsTakenOverAndKnownToBeInDoubt() {
        store().claim(List.of(claimOf("A-3", "orders")));

        send("orders", "A-3");

        await().atMost(SOON).until(() -> messages("orders") == 0);
        assertThat(calls("A-3")).containsExactly(new Call("A-3", 2, true));
    }

    @Test
    void effectOfAHandlersTransactionHappensOnce() {
        send("payments", "P-1");
        send("payments", "P-1");
        send("payments", "fails-after-P-2");

        await().atMost(SOON).until(() -> messages("payments") == 0);

        assertThat(payments("P-1")).isEqualTo("1");
        assertThat(payments("fails-after-P-2")).isEqualTo("1");
    }

    @Test
    void operationsAreThereWithTheirParkedClaims() {
        ExactlyOnceOperations operations = context.getBean(ExactlyOnceOperations.class);

        assertThat(operations.once("requests", "R-1").call(String.class, claim -> "first"))
                .isEqualTo("first");
        assertThat(operations.once("requests", "R-1").call(String.class, claim -> "second"))
                .isEqualTo("first");
        assertThat(context.getBean(ParkedKeys.class).list(10)).isEmpty();
    }

    /** Operators work as with claims in PostgreSQL. */
    @Test
    void operatorListsAndDecidesParkedKeysOfTheWholeFleet() {
        ClaimStore store = context.getBean(ClaimStore.class);
        ClaimRequest request =
                new ClaimRequest(new ClaimKey("parcels", "P-1"), UUID.randomUUID(), "worker", Duration.ofMinutes(1));
        store.claim(List.of(request));
        store.resolve(List.of(new ClaimResolution.Parked(request.id(), "shop.Refused: no", true)));
        ExactlyOnceEndpoint endpoint = context.getBean(ExactlyOnceEndpoint.class);

        await().atMost(SOON)
                .untilAsserted(() -> assertThat(endpoint.readPart(
                                        SecurityContext.NONE, "parked", "parcels", "shop.Refused", null, null, null)
                                .getBody())
                        .asString()
                        .contains(request.claimId().toString(), "key=******"));
        assertThat(context.getBean(ParkedClaims.class).count())
                .extracting(ParkedClaims.Count::scope)
                .contains("parcels");
        String seen = request.claimId().toString();
        for (String outcome : List.of("notDecided=[]", "decided=[]")) {
            assertThat(endpoint.writePart(
                                    SecurityContext.NONE,
                                    "parked",
                                    "release",
                                    "mended",
                                    seen,
                                    null,
                                    null,
                                    null,
                                    null,
                                    null,
                                    null,
                                    null,
                                    null)
                            .getBody())
                    .asString()
                    .contains(outcome);
        }
        assertThat(context.getBean(ParkedKeys.class).find("parcels", "P-1")).isEmpty();
    }

    @Test
    void clockIsMeasuredAndReportedByHealthAndMeter() {
        context.getBean(DynamoDbClaims.class).probe();

        var health = context.getBean("exactlyOnceHealthIndicator", HealthIndicator.class)
                .health(true);
        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertThat(health.getDetails()).containsEntry("takeover", "by clock").containsKey("clockUncertaintySeconds");
        assertThat(context.getBean(MeterRegistry.class)
                        .get("exactly.once.dynamodb.clock.uncertainty")
                        .gauge()
                        .value())
                .isBetween(0.0, 2.0);
    }

    /** Health works as with claims in PostgreSQL. */
    @Test
    void listenerThatIsPausedIsReportedByHealth() {
        ListenerStates listeners = context.getBean(ListenerStates.class);
        Subscription subscription = listeners.all().get(0);
        HealthIndicator indicator = context.getBean("exactlyOnceHealthIndicator", HealthIndicator.class);
        assertThat(indicator.health(true).getDetails())
                .containsKey("millisSinceRenewalCheck")
                .containsEntry("pausedListeners", List.of());

        for (int unanswered = 0; unanswered < 3; unanswered++) {
            subscription.gate().unanswered(new IllegalStateException("simulated"));
        }
        try {
            assertThat(indicator.health(true).getStatus()).isEqualTo(Status.DOWN);
            // All listeners with claims in DynamoDB share one circuit breaker.
            assertThat(indicator.health(true).getDetails())
                    .containsEntry(
                            "pausedListeners",
                            listeners.all().stream()
                                    .map(paused -> paused + ": no answer to claims by claims")
                                    .toList());
        } finally {
            subscription.gate().answered();
        }
    }

    @Test
    void missingTableFailsStartupOfListeners() {
        assertThatThrownBy(() -> run(Enforced.class, "missing", "exactly-once.dynamodb.initialize-schema=never"))
                .hasRootCauseInstanceOf(ResourceNotFoundException.class)
                .hasStackTraceContaining("table missing does not exist");
    }

    @Test
    void missingTableDoesNotFailStartupOfListenersThatAreOnlyObserved(CapturedOutput output) {
        try (var observed = run(OnlyObserved.class, "missing", "exactly-once.dynamodb.initialize-schema=never")) {
            observed.getBean(SqsTemplate.class).send("trial", new Order("T-1"));

            await().atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(observed.getBean(Trial.class).calls()).containsExactly("T-1"));
            await().untilAsserted(() -> assertThat(output)
                    .contains("listeners are not observed until it does", "table missing does not exist"));
        }
    }

    @Test
    void throttlingHasAMeterForEachReason() {
        assertThat(context.getBean(MeterRegistry.class)
                        .get("exactly.once.dynamodb.throttled")
                        .functionCounters())
                .extracting(counter -> counter.getId().getTag("reason"))
                .containsExactlyInAnyOrder("throughput", "limit", "unread", "request");
    }

    private static ClaimStore store() {
        return context.getBean(ClaimStore.class);
    }

    private static List<Call> calls(String orderId) {
        return context.getBean(Fulfilment.class).calls().stream()
                .filter(call -> call.orderId().equals(orderId))
                .toList();
    }

    private static String payments(String orderId) {
        return LocalDynamoDb.shared()
                .client()
                .getItem(request -> request.tableName("payments").key(Map.of("pk", AttributeValue.fromS(orderId))))
                .join()
                .item()
                .get("payments")
                .n();
    }

    private static void send(String queue, String orderId) {
        context.getBean(SqsTemplate.class).send(queue, new Order(orderId));
    }

    private static int messages(String queue) {
        SqsAsyncClient sqs = context.getBean(SqsAsyncClient.class);
        String url = sqs.getQueueUrl(request -> request.queueName(queue)).join().queueUrl();
        return sqs
                .getQueueAttributes(request -> request.queueUrl(url)
                        .attributeNames(
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
                .join()
                .attributes()
                .values()
                .stream()
                .mapToInt(Integer::parseInt)
                .sum();
    }

    private static ClaimRequest claimOf(String orderId, String scope) {
        return new ClaimRequest(
                new ClaimKey(scope, orderId), UUID.randomUUID(), "another worker", Duration.ofSeconds(2));
    }
}
