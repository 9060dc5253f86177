package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.annotation.SnsNotificationSubject;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders.MessageSystemAttributes;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementResultCallback;
import io.awspring.cloud.sqs.listener.errorhandler.ErrorHandler;
import io.awspring.cloud.sqs.listener.errorhandler.ImmediateRetryAsyncErrorHandler;
import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.validation.Errors;
import org.springframework.validation.Validator;
import org.springframework.validation.annotation.Validated;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Features of Spring Cloud AWS on methods that claim, which {@code docs/spring-cloud-aws.md} lists. */
@UsesSqs
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpringCloudAwsFeaturesIT {

    private static final int WINDOW_SECONDS = 10;
    private static final SqsServer SQS = SqsServer.shared();
    private static final List<String> QUEUES = List.of(
            "plain",
            "bean",
            "message",
            "sns",
            "notification",
            "valid",
            "tenant",
            "batch",
            "hooked",
            "stumbling",
            "again",
            "url",
            "arn");

    /** The calls of the handlers, and of the components around them. */
    static final List<String> CALLS = new CopyOnWriteArrayList<>();

    record Order(String orderId) {}

    record Payment(int amount) {}

    /** A JavaBean instead of a record. */
    static class Parcel {
        private String parcelId = "";

        public String getParcelId() {
            return parcelId;
        }

        public void setParcelId(String parcelId) {
            this.parcelId = parcelId;
        }
    }

    record Tenant(String name) {}

    static class Listeners {

        private final AtomicInteger failures = new AtomicInteger();

        @SqsListener("${test.plain}")
        void plain(Message<String> message) {
            CALLS.add("plain " + message.getPayload() + ReceivedMessage.of(message));
        }

        @ExactlyOnceListener(queueNames = "${test.bean}", key = "#parcel.parcelId")
        void bean(Parcel parcel) {
            CALLS.add("bean " + parcel.getParcelId());
        }

        @ExactlyOnceListener(queueNames = "${test.message}", key = "#headers['customer'] + #message.payload.orderId")
        void message(
                Message<Order> message,
                Claim claim,
                MessageHeaders headers,
                @Headers Map<String, Object> all,
                @Header("customer") String customer,
                @Header(MessageSystemAttributes.SQS_APPROXIMATE_RECEIVE_COUNT) String receives,
                QueueAttributes queue) {
            boolean same = headers.get("customer").equals(customer)
                    && all.get("customer").equals(customer);
            CALLS.add("message %s of %s, receive %s, %s %s"
                    .formatted(
                            message.getPayload().orderId(),
                            customer,
                            receives,
                            same,
                            queue.getQueueName().isEmpty()));
            CALLS.add("message's key " + claim.key());
        }

        @ExactlyOnceListener(queueNames = "${test.sns}", key = "#order.orderId")
        void sns(@SnsNotificationMessage Order order, @SnsNotificationSubject String subject) {
            CALLS.add("sns %s %s".formatted(subject, order.orderId()));
        }

        @ExactlyOnceListener(queueNames = "${test.notification}", key = "#notification.message")
        void notification(SnsNotification<String> notification) {
            CALLS.add("notification " + notification.getMessage());
        }

        @ExactlyOnceListener(queueNames = "${test.valid}", key = "#headers['Sqs_RawMessageId']")
        void valid(@Validated @Payload Payment payment) {
            CALLS.add("valid " + payment.amount());
        }

        @ExactlyOnceListener(queueNames = "${test.tenant}", key = "#order.orderId")
        void tenant(Tenant tenant, Order order, Claim claim) {
            CALLS.add("tenant %s %s".formatted(tenant.name(), claim.key()));
        }

        @ExactlyOnceListener(queueNames = "${test.batch}", key = "#payload.orderId")
        void batch(List<Message<Order>> orders, BatchVisibility visibility, List<Claim> claims) {
            visibility.changeTo(2 * WINDOW_SECONDS);
            orders.forEach(order -> CALLS.add("batch " + order.getPayload().orderId()));
        }

        @ExactlyOnceListener(id = "hooked", queueNames = "${test.hooked}", key = "#order.orderId", factory = "hooks")
        void hooked(Order order, @Header("intercepted") String intercepted, Claim claim) {
            CALLS.add("hooked %s %s %d".formatted(intercepted, claim.key(), claim.attempt()));
            if (claim.attempt() == 1) {
                throw new IllegalStateException("the error handler hides it");
            }
        }

        @ExactlyOnceListener(queueNames = "${test.stumbling}", key = "#order.orderId", factory = "stumbling")
        void stumbling(Order order) {
            CALLS.add("stumbling " + order.orderId());
        }

        @ExactlyOnceListener(queueNames = "${test.again}", key = "#order.orderId", factory = "immediately")
        void again(Order order) {
            if (failures.getAndIncrement() == 0) {
                throw new IllegalStateException("at first");
            }
            CALLS.add("again " + order.orderId());
        }

        @ExactlyOnceListener(queueNames = "#{${test.addresses}}", key = "#order.orderId")
        void addressed(Order order) {
            CALLS.add("addressed " + order.orderId());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Extensions implements Validator, HandlerMethodArgumentResolver {

        @Bean
        static SqsListenerConfigurer resolversAndValidation() {
            Extensions extensions = new Extensions();
            return registrar -> {
                registrar.manageMethodArgumentResolvers(resolvers -> resolvers.add(0, extensions));
                registrar.setValidator(extensions);
            };
        }

        @Bean
        static ExactlyOnceContainerFactory hooks(
                ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options -> options.acknowledgementInterval(Duration.ZERO)
                            .acknowledgementThreshold(0)
                            .convertMessageIdToUuid(false)
                            .pollTimeout(Duration.ofSeconds(1)))
                    .messageInterceptor(new Intercepting())
                    .errorHandler(new Hiding("hidden"))
                    .acknowledgementResultCallback(new Confirming())
                    .build());
        }

        @Bean
        static ExactlyOnceContainerFactory stumbling(
                ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options -> options.pollTimeout(Duration.ofSeconds(1)))
                    .messageInterceptor(new Stumbling())
                    .errorHandler(new Hiding("swallowed"))
                    .build());
        }

        @Bean
        static ExactlyOnceContainerFactory immediately(
                ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options -> options.pollTimeout(Duration.ofSeconds(1)))
                    .errorHandler(new ImmediateRetryAsyncErrorHandler<>())
                    .build());
        }

        @Override
        public boolean supports(Class<?> type) {
            return type == Payment.class;
        }

        @Override
        public void validate(Object payment, Errors errors) {
            if (((Payment) payment).amount() < 0) {
                errors.rejectValue("amount", "Positive");
            }
        }

        @Override
        public boolean supportsParameter(MethodParameter parameter) {
            return parameter.getParameterType() == Tenant.class;
        }

        @Override
        public Object resolveArgument(MethodParameter parameter, Message<?> message) {
            return new Tenant((String) message.getHeaders().get("tenant"));
        }
    }

    private static final class Intercepting implements MessageInterceptor<Object> {

        @Override
        public Message<Object> intercept(Message<Object> message) {
            CALLS.add("intercepted");
            return MessageBuilder.fromMessage(message)
                    .setHeader("intercepted", "by us")
                    .build();
        }

        @Override
        public void afterProcessing(Message<Object> message, Throwable failure) {
            CALLS.add("processed " + (failure == null));
        }
    }

    private static final class Stumbling implements MessageInterceptor<Object> {

        private final AtomicInteger messages = new AtomicInteger();

        @Override
        public Message<Object> intercept(Message<Object> message) {
            if (messages.getAndIncrement() == 0) {
                throw new IllegalStateException("the interceptor stumbles");
            }
            return message;
        }
    }

    /** @param call the text that is recorded for each failure */
    private record Hiding(String call) implements ErrorHandler<Object> {

        @Override
        public void handle(Message<Object> message, Throwable failure) {
            CALLS.add(call);
        }
    }

    private static final class Confirming implements AcknowledgementResultCallback<Object> {

        @Override
        public void onSuccess(Collection<Message<Object>> messages) {
            messages.forEach(message -> CALLS.add("confirmed"));
        }
    }

    private final Map<String, String> properties = new HashMap<>();
    private TestApplication application;

    @BeforeAll
    void start() {
        QUEUES.forEach(queue -> properties.put("test." + queue, SQS.createQueue(WINDOW_SECONDS)));
        properties.put("test.addresses", "{'%s', '%s'}".formatted(SQS.urlOf(name("url")), arnOf(name("arn"))));
        properties.put("spring.jackson.property-naming-strategy", "SNAKE_CASE");
        application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(), properties, Listeners.class, Extensions.class);
    }

    @AfterAll
    void stop() {
        application.close();
    }

    private String name(String queue) {
        return properties.get("test." + queue);
    }

    private static String arnOf(String queue) {
        return SQS.client()
                .getQueueAttributes(
                        request -> request.queueUrl(SQS.urlOf(queue)).attributeNames(QueueAttributeName.QUEUE_ARN))
                .attributes()
                .get(QueueAttributeName.QUEUE_ARN);
    }

    private void sendTwice(String queue, String body) {
        SQS.send(name(queue), body);
        SQS.send(name(queue), body);
    }

    private void sendTwice(String queue, String body, String attribute) {
        MessageAttributeValue value = MessageAttributeValue.builder()
                .dataType("String")
                .stringValue("c1")
                .build();
        for (int time = 0; time < 2; time++) {
            SQS.client()
                    .sendMessage(request -> request.queueUrl(SQS.urlOf(name(queue)))
                            .messageBody(body)
                            .messageAttributes(Map.of(attribute, value)));
        }
    }

    private void awaitEmpty(String queue) {
        SQS.awaitEmpty(name(queue));
    }

    private static List<String> calls(String... beginnings) {
        return CALLS.stream()
                .filter(call -> List.of(beginnings).stream().anyMatch(call::startsWith))
                .toList();
    }

    /** The plain listener runs in the same application as the listeners that claim. */
    @Test
    void plainListenerClaimsNothingAndGetsTheSameMessageTwice() {
        sendTwice("plain", "same");

        awaitEmpty("plain");
        assertThat(calls("plain")).containsExactly("plain sameOptional.empty", "plain sameOptional.empty");
        assertThat(application
                        .database()
                        .sql("SELECT count(*) FROM exactly_once_claim WHERE scope = ?")
                        .param(name("plain"))
                        .query(Integer.class)
                        .single())
                .isZero();
    }

    @Test
    void javaBeansAreReadByTheApplicationsJsonMapper() {
        sendTwice("bean", "{\"parcel_id\":\"p1\"}");

        awaitEmpty("bean");
        assertThat(calls("bean")).containsExactly("bean p1");
    }

    @Test
    void messageHeadersAttributesAndQueueAreArguments() {
        sendTwice("message", "{\"order_id\":\"o1\"}", "customer");

        awaitEmpty("message");
        assertThat(calls("message")).containsExactly("message o1 of c1, receive 1, true false", "message's key c1o1");
    }

    @Test
    void subjectAndMessageOfAnSnsNotificationAreArguments() {
        String envelope = "{\"Type\":\"Notification\",\"MessageId\":\"%s\",\"TopicArn\":\"t\",\"Subject\":\"s1\","
                + "\"Message\":\"{\\\"order_id\\\":\\\"o1\\\"}\",\"Timestamp\":\"2026-11-22T12:00:00.000Z\"}";
        for (String id : List.of("1", "2")) {
            SQS.send(name("sns"), envelope.formatted(id));
            SQS.send(name("notification"), envelope.formatted(id));
        }

        awaitEmpty("sns");
        awaitEmpty("notification");
        assertThat(calls("sns")).containsExactly("sns s1 o1");
        assertThat(calls("notification")).containsExactly("notification {\"order_id\":\"o1\"}");
    }

    @Test
    void payloadThatIsNotValidIsNeitherHandledNorDeleted() {
        SQS.send(name("valid"), "{\"amount\":-1}");
        SQS.send(name("valid"), "{\"amount\":2}");

        await().until(() -> SQS.size(name("valid")) == 1);
        assertThat(calls("valid")).containsExactly("valid 2");
    }

    @Test
    void resolverOfTheApplicationsMakesArgumentsBesideTheClaim() {
        sendTwice("tenant", "{\"order_id\":\"o1\"}", "tenant");

        awaitEmpty("tenant");
        assertThat(calls("tenant")).containsExactly("tenant c1 o1");
    }

    @Test
    void batchHasMessagesVisibilityAndClaims() {
        sendTwice("batch", "{\"order_id\":\"o1\"}");
        sendTwice("batch", "{\"order_id\":\"o2\"}");

        awaitEmpty("batch");
        assertThat(calls("batch")).containsExactlyInAnyOrder("batch o1", "batch o2");
    }

    /**
     * The duplicate is deleted and confirmed without a call of interceptor, handler or error handler. An application's
     * own factory reads JSON with Spring Cloud AWS's mapper, as for plain listeners.
     */
    @Test
    void interceptorsErrorHandlerAndAcknowledgementCallbackAreCalled() {
        sendTwice("hooked", "{\"orderId\":\"o1\"}");

        awaitEmpty("hooked");
        await().until(() -> calls("confirmed").size() == 2);
        assertThat(calls("hooked", "intercepted", "hidden", "processed"))
                .containsExactly(
                        "intercepted",
                        "hooked by us o1 1",
                        "hidden",
                        "processed true",
                        "intercepted",
                        "hooked by us o1 2",
                        "processed true");
    }

    /** A plain listener's message would be deleted without being handled. */
    @Test
    void errorHandlerThatHidesWhatAnInterceptorThrowsDeletesNothing() {
        SQS.send(name("stumbling"), "{\"orderId\":\"o1\"}");

        awaitEmpty("stumbling");
        assertThat(calls("swallowed", "stumbling")).containsExactly("swallowed", "stumbling o1");
    }

    @Test
    void errorHandlerChoosesWhenTheMessageIsRedelivered() {
        SQS.send(name("again"), "{\"orderId\":\"o1\"}");

        awaitEmpty("again");
        assertThat(calls("again")).containsExactly("again o1");
    }

    @Test
    void queuesAreNamedByUrlOrArnAndByAnExpression() {
        sendTwice("url", "{\"order_id\":\"o1\"}");
        sendTwice("arn", "{\"order_id\":\"o2\"}");

        awaitEmpty("url");
        awaitEmpty("arn");
        assertThat(calls("addressed")).containsExactlyInAnyOrder("addressed o1", "addressed o2");
    }
}
