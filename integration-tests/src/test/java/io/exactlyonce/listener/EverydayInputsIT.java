package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.BeanRegistrar;
import org.springframework.beans.factory.BeanRegistry;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import tools.jackson.databind.JsonNode;

/**
 * Payloads, handlers and beans that Spring permits, and that no page names. Each works as with {@code @SqsListener}, or
 * startup explains why not.
 */
@UsesSqs
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EverydayInputsIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final List<String> QUEUES = List.of(
            "number",
            "status",
            "uuid",
            "json",
            "text",
            "order",
            "overridden",
            "interrupted",
            "within",
            "parked",
            "batch",
            "never",
            "readOnly",
            "registered",
            "background");

    static final List<String> CALLS = new CopyOnWriteArrayList<>();

    record Order(String orderId) {}

    enum Status {
        OPEN
    }

    static class Payloads {
        @ExactlyOnceListener(queueNames = "${test.number}", key = "#order")
        void number(long order) {
            CALLS.add("number " + order);
        }

        @ExactlyOnceListener(queueNames = "${test.status}", key = "#status")
        void status(Status status) {
            CALLS.add("status " + status);
        }

        @ExactlyOnceListener(queueNames = "${test.uuid}", key = "#order")
        void uuid(UUID order) {
            CALLS.add("uuid " + order);
        }

        @ExactlyOnceListener(queueNames = "${test.json}", key = "#order.get('orderId').asString()")
        void json(JsonNode order) {
            CALLS.add("json " + order.get("orderId").asString());
        }
    }

    /** Two listeners whose methods have one name. */
    static class Overloads {
        @ExactlyOnceListener(queueNames = "${test.text}", key = "#order")
        void handle(String order) {
            CALLS.add("text " + order);
        }

        @ExactlyOnceListener(queueNames = "${test.order}", key = "#order.orderId")
        void handle(Order order, Claim claim) {
            CALLS.add("order " + claim.key());
        }
    }

    abstract static class Base<T> {
        @ExactlyOnceListener(queueNames = "${test.overridden}", key = "#payload.orderId")
        public void handle(T payload) {
            CALLS.add("base " + payload);
        }
    }

    /** A class that repeats the annotation of the method that it overrides. The compiler adds a bridge method. */
    static class Overriding extends Base<Order> {
        @Override
        @ExactlyOnceListener(queueNames = "${test.overridden}", key = "#payload.orderId")
        public void handle(Order payload) {
            CALLS.add("overridden " + payload.orderId());
        }
    }

    /** Handlers that leave the interrupt flag of their thread set, as code does that catches an interrupt. */
    static class Interrupting {
        @ExactlyOnceListener(queueNames = "${test.interrupted}", key = "#order")
        void external(String order) {
            CALLS.add("interrupted " + order);
            Thread.currentThread().interrupt();
        }

        @ExactlyOnceListener(queueNames = "${test.within}", key = "#order", effects = Effects.DATABASE)
        void within(String order) {
            CALLS.add("within " + order);
            Thread.currentThread().interrupt();
        }

        @ExactlyOnceListener(
                queueNames = "${test.parked}",
                scope = "parked",
                key = "#order",
                effects = Effects.DATABASE,
                parkFor = UnsupportedOperationException.class)
        void parked(String order) {
            CALLS.add("parked " + order);
            Thread.currentThread().interrupt();
            throw new UnsupportedOperationException("the carrier is closed");
        }

        @ExactlyOnceListener(queueNames = "${test.batch}", key = "#payload", effects = Effects.DATABASE)
        BatchResult batch(List<String> orders) {
            boolean fails = orders.contains("bad") && CALLS.stream().noneMatch(call -> call.contains("bad"));
            CALLS.add("batch " + orders);
            Thread.currentThread().interrupt();
            return fails
                    ? BatchResult.failed(orders.indexOf("bad"), new IllegalStateException("the carrier is closed"))
                    : BatchResult.allSucceeded();
        }
    }

    static class Advised {
        @Transactional(propagation = Propagation.NEVER)
        @ExactlyOnceListener(queueNames = "${test.never}", key = "#order")
        public void never(String order) {
            CALLS.add("never " + TransactionSynchronizationManager.isActualTransactionActive());
        }

        @Transactional(readOnly = true)
        @ExactlyOnceListener(queueNames = "${test.readOnly}", key = "#order")
        public void readOnly(String order) {
            CALLS.add("readOnly " + TransactionSynchronizationManager.isCurrentTransactionReadOnly());
        }
    }

    static class OfARegistrar {
        @ExactlyOnceListener(queueNames = "${test.registered}", key = "#order")
        void handle(String order) {
            CALLS.add("registered " + order);
        }
    }

    static class Registrar implements BeanRegistrar {
        @Override
        public void register(BeanRegistry registry, Environment environment) {
            registry.registerBean("registered", OfARegistrar.class, spec -> spec.supplier(beans -> new OfARegistrar()));
        }
    }

    static class InBackground {
        @ExactlyOnceListener(queueNames = "${test.background}", key = "#order")
        void handle(String order) {
            CALLS.add("background " + order);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Registrar.class)
    static class Beans {
        @Bean
        Executor bootstrapExecutor() {
            return new SimpleAsyncTaskExecutor("bootstrap-");
        }

        @Bean(bootstrap = Bean.Bootstrap.BACKGROUND)
        InBackground inBackground() {
            return new InBackground();
        }
    }

    interface Circular {}

    static class OfACircle implements Circular {
        @Autowired
        private OfTheOther other;

        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order")
        public void handle(String order) {
            other.handle(order);
        }
    }

    static class OfTheOther {
        @Autowired
        private Circular circle;

        void handle(String order) {
            CALLS.add("circle " + order + " " + circle);
        }
    }

    private TestApplication application;

    @BeforeAll
    void start() {
        application = TestApplication.onQueues(
                QUEUES,
                Map.of("spring.aop.proxy-target-class", "false"),
                Payloads.class,
                Overloads.class,
                Overriding.class,
                Interrupting.class,
                Advised.class,
                Beans.class);
    }

    @AfterAll
    void stop() {
        application.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            number      | 42                                       | number 42
            status      | "OPEN"                                   | status OPEN
            uuid        | "00000000-0000-0003-0000-000000000004"   | uuid 00000000-0000-0003-0000-000000000004
            json        | {"orderId":"o1"}                         | json o1
            text        | o1                                       | text o1
            order       | {"orderId":"o1"}                         | order o1
            overridden  | {"orderId":"o1"}                         | overridden o1
            interrupted | o1                                       | interrupted o1
            within      | o1                                       | within o1
            never       | o1                                       | never false
            readOnly    | o1                                       | readOnly true
            registered  | o1                                       | registered o1
            background  | o1                                       | background o1
            """)
    void messageAndItsDuplicateAreHandledOnce(String queue, String body, String call) {
        CALLS.clear();

        application.handleTwice(queue, body);

        assertThat(CALLS).containsExactly(call);
    }

    @Test
    void handlerThatInterruptsItselfParksItsKey() {
        CALLS.clear();
        SQS.send(application.queue("parked"), "o1");

        await().untilAsserted(() -> assertThat(
                        application.texts("SELECT status FROM exactly_once_claim WHERE scope = 'parked'"))
                .containsExactly("PARKED"));
        assertThat(CALLS).containsExactly("parked o1");
        SQS.deleteQueue(application.queue("parked"));
    }

    @Test
    void batchThatInterruptsItselfHandlesItsOtherMessagesOnTheSameReceive() {
        CALLS.clear();
        String queue = application.queue("batch");
        List.of("o1", "bad", "o2").forEach(order -> SQS.send(queue, order));

        SQS.awaitEmpty(queue);
        assertThat(application.texts("SELECT key FROM exactly_once_claim WHERE scope = '%s' AND status = 'COMPLETED'"
                        .formatted(queue)))
                .containsExactlyInAnyOrder("o1", "o2", "bad");
    }

    static class OneId {
        @ExactlyOnceListener(id = "one", queueNames = "${test.queue}", key = "#order")
        void first(String order) {}

        @ExactlyOnceListener(id = "one", queueNames = "${test.other}", key = "#order")
        void second(String order) {}
    }

    @ExactlyOnceListener(queueNames = "${test.queue}", key = "#payload")
    static class WithoutHandlers {
        void handle(String order) {}
    }

    static class BlankQueue {
        @ExactlyOnceListener(queueNames = "${test.nothing:}", key = "#order")
        void handle(String order) {}
    }

    static class NoConcurrency {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order", maxConcurrentMessages = "0")
        void handle(String order) {}
    }

    static class ConcurrencyWithUnit {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order", maxConcurrentMessages = "ten")
        void handle(String order) {}
    }

    static class WindowWithUnit {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order", messageVisibilitySeconds = "30s")
        void handle(String order) {}
    }

    static class NegativeWindow {
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order", messageVisibilitySeconds = "-1")
        void handle(String order) {}
    }

    static class LeavingByJakarta {
        @jakarta.transaction.Transactional(jakarta.transaction.Transactional.TxType.REQUIRES_NEW)
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        public void handle(String order) {}
    }

    static class KeepingByJakarta {
        @jakarta.transaction.Transactional(dontRollbackOn = IllegalStateException.class)
        @ExactlyOnceListener(queueNames = "${test.queue}", key = "#order", effects = Effects.DATABASE)
        public void handle(String order) {}
    }

    /** Spring shows the bean itself to Spring Cloud AWS, and its proxy only to the other bean. */
    @Test
    void circleOfReferencesFailsStartup() {
        Map<String, String> permitted = Map.of("spring.main.allow-circular-references", "true");

        assertThatThrownBy(
                        () -> TestApplication.onQueues(List.of("queue"), permitted, OfACircle.class, OfTheOther.class))
                .hasStackTraceContaining("OfACircle.handle: its bean has no proxy that could claim keys")
                .hasStackTraceContaining("take it out of circular references");
    }

    /** The last five texts are of Spring Cloud AWS, whose {@code @SqsListener} fails in the same way. */
    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(LeavingByJakarta.class, "its propagation REQUIRES_NEW leaves the transaction"),
                Arguments.of(KeepingByJakarta.class, "its noRollbackFor (java.lang.IllegalStateException)"),
                Arguments.of(NegativeWindow.class, "visibility timeout (-1 s) must be from 1 s to 43,200 s"),
                Arguments.of(BlankQueue.class, "Queue '' of listener"),
                Arguments.of(OneId.class, "Already registered container with id one"),
                Arguments.of(
                        WithoutHandlers.class,
                        "No handler method found for listener in class: " + WithoutHandlers.class),
                Arguments.of(NoConcurrency.class, "maxConcurrentMessages must be greater than zero"),
                Arguments.of(ConcurrencyWithUnit.class, "Cannot resolve maxConcurrentMessages as Integer"),
                Arguments.of(WindowWithUnit.class, "Cannot resolve messageVisibility as Integer"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void listenerThatCannotWorkFailsStartup(Class<?> listener, String problem) {
        assertThatThrownBy(() -> TestApplication.onQueues(List.of("queue", "other"), Map.of(), listener))
                .hasStackTraceContaining(problem);
    }
}
