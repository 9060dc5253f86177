package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.annotation.AliasFor;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** The annotation on a class, and on an application's own annotations. */
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

        @OrdersListener(queues = "${test.composed}")
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
    private final String composed = SQS.createQueue(30);

    /**
     * Starts the application with a method listener beside the class. Spring Cloud AWS then turns type mapping off in
     * the converter that containers share.
     */
    private TestApplication start(String lazy) {
        return TestApplication.on(
                queue,
                Map.of(
                        "test.composed", composed,
                        "test.other", SQS.createQueue(30),
                        "spring.main.lazy-initialization", lazy),
                OnAMethod.class,
                OrderEvents.class,
                Composed.class);
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
        try (TestApplication application = start("false")) {
            OrderEvents listener = application.bean(OrderEvents.class);
            send(Placed.class, "o1");
            send(Cancelled.class, "o2");
            await().until(() -> application.claims("COMPLETED") == 2);
            send(Placed.class, "o1");
            send(Cancelled.class, "o2");

            await().until(() -> SQS.size(queue) == 0);
            assertThat(listener.handled()).containsExactlyInAnyOrder("placed o1", "cancelled o2");
            assertThat(application.texts("SELECT DISTINCT scope FROM exactly_once_claim"))
                    .containsExactly("events");
        }
    }

    @ParameterizedTest(name = "lazy: {0}")
    @ValueSource(strings = {"false", "true"})
    void annotationsOfClassesAndOfTheApplicationsOwnMakeListenersAlsoOfLazyBeans(String lazy) {
        try (TestApplication application = start(lazy)) {
            SQS.send(composed, "o1");
            SQS.send(composed, "o1");
            send(Placed.class, "o2");

            await().until(() -> application.claims("COMPLETED") == 2);
            await().until(() -> SQS.size(composed) + SQS.size(queue) == 0);
            assertThat(application.bean(Composed.class).handled()).containsExactly("o1");
            assertThat(application.bean(OrderEvents.class).handled()).containsExactly("placed o2");
        }
    }
}
