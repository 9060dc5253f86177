package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.core.annotation.AliasFor;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** The annotation on a class, and on annotations of the application's own. */
@UsesSqs
class ClassListenerIT {

    private static final SqsServer SQS = SqsServer.shared();

    record Placed(String orderId) {}

    record Cancelled(String orderId) {}

    @ExactlyOnceListener(id = "events", queueNames = "${test.queue}", scope = "events", key = "#payload.orderId")
    static class OrderEvents {
        private final List<String> handled = new CopyOnWriteArrayList<>();

        List<String> handled() {
            return handled;
        }

        @SqsHandler
        void placed(Placed event, Claim claim) {
            claim.ensureHeld();
            handled.add("placed " + claim.key());
        }

        @SqsHandler
        void cancelled(Cancelled event, Claim claim) {
            claim.ensureHeld();
            handled.add("cancelled " + claim.key());
        }
    }

    @ExactlyOnceListener(id = "composed", key = "#order", scope = "composed")
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @interface OrdersListener {

        @AliasFor(annotation = ExactlyOnceListener.class, attribute = "queueNames")
        String[] queues();
    }

    static class Composed {
        private final List<String> handled = new CopyOnWriteArrayList<>();

        List<String> handled() {
            return handled;
        }

        @OrdersListener(queues = "${test.queue}")
        void handle(String order, Claim claim) {
            claim.ensureHeld();
            handled.add(claim.key());
        }
    }

    static class OnAMethod {

        @ExactlyOnceListener(queueNames = "${test.other}", key = "#order.orderId")
        void handle(Placed order) {}
    }

    private final String queue = SQS.createQueue(30);

    private TestApplication start(Map<String, String> properties, Class<?>... listeners) {
        return TestApplication.start(EmbeddedDatabase.shared().createDatabase(), properties, listeners);
    }

    private void send(Class<?> type, String orderId) {
        var javaType = MessageAttributeValue.builder()
                .dataType("String")
                .stringValue(type.getName())
                .build();
        SQS.client()
                .sendMessage(request -> request.queueUrl(SQS.urlOf(queue))
                        .messageBody("{\"orderId\":\"%s\"}".formatted(orderId))
                        .messageAttributes(Map.of("JavaType", javaType)));
    }

    @Test
    void handlersOfAClassShareItsListenerAndItsKeys() {
        try (TestApplication application = start(Map.of("test.queue", queue), OrderEvents.class)) {
            OrderEvents listener = application.bean(OrderEvents.class);
            send(Placed.class, "o1");
            send(Cancelled.class, "o2");
            await().until(() -> application.claims("COMPLETED") == 2);
            send(Placed.class, "o1");
            send(Cancelled.class, "o2");

            await().until(() -> SQS.size(queue) == 0);
            assertThat(listener.handled()).containsExactlyInAnyOrder("placed o1", "cancelled o2");
            assertThat(application
                            .database()
                            .sql("SELECT DISTINCT scope FROM exactly_once_claim")
                            .query(String.class)
                            .list())
                    .containsExactly("events");
        }
    }

    /** Awspring turns the mapping of types off in the converter that all containers of a factory share. */
    @Test
    void payloadTypesAreKnownBesideAListenerOnAMethod() {
        Map<String, String> queues = Map.of("test.queue", queue, "test.other", SQS.createQueue(30));
        try (TestApplication application = start(queues, OnAMethod.class, OrderEvents.class)) {
            send(Placed.class, "o1");
            send(Cancelled.class, "o2");

            await().until(() -> SQS.size(queue) == 0);
            assertThat(application.bean(OrderEvents.class).handled())
                    .containsExactlyInAnyOrder("placed o1", "cancelled o2");
        }
    }

    @Test
    void annotationOfTheApplicationsOwnMakesAListener() {
        try (TestApplication application = start(Map.of("test.queue", queue), Composed.class)) {
            Composed listener = application.bean(Composed.class);
            SQS.send(queue, "o1");
            SQS.send(queue, "o1");

            await().until(() -> application.claims("COMPLETED") == 1);
            await().until(() -> SQS.size(queue) == 0);
            assertThat(listener.handled()).containsExactly("o1");
        }
    }

    @Test
    void listenersAreMadeThoughBeansAreLazy() {
        Map<String, String> lazy = Map.of("test.queue", queue, "spring.main.lazy-initialization", "true");
        try (TestApplication application = start(lazy, Composed.class)) {
            SQS.send(queue, "o1");

            await().until(() -> application.claims("COMPLETED") == 1);
            await().until(() -> SQS.size(queue) == 0);
        }
        try (TestApplication application = start(lazy, OrderEvents.class)) {
            send(Placed.class, "o2");

            await().until(() -> application.claims("COMPLETED") == 1);
        }
    }
}
