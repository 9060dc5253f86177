package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtAttempt;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;

/** Beans as applications declare them. Each listener works as with {@code @SqsListener}, or startup explains why not. */
@UsesSqs
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
class ListenerBeansIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final List<String> QUEUES = List.of(
            "configuration",
            "full",
            "byDefault",
            "transactional",
            "external",
            "placeholders",
            "object",
            "generic",
            "nested",
            "converted",
            "reconciled");

    static final List<String> CALLS = new CopyOnWriteArrayList<>();

    record Order(String orderId) {}

    record Envelope<T>(String id, T content) {}

    record Pair<A, B>(A left, B right) {}

    /** A class without a proxy of its own, whose method is a listener. */
    @Configuration(proxyBeanMethods = false)
    static class OfAConfiguration {
        @ExactlyOnceListener(queueNames = "${test.configuration}", key = "#order")
        void handle(String order) {
            CALLS.add("configuration " + order);
        }
    }

    /** A subclass of this class makes beans once, and the proxy that claims extends that subclass. */
    @Configuration
    static class OfAFullConfiguration {
        @Bean
        List<String> made() {
            return List.of("made");
        }

        @ExactlyOnceListener(queueNames = "${test.full}", key = "#order")
        void handle(String order) {
            CALLS.add("full " + order + " " + (made() == made()));
        }
    }

    interface ByDefault {
        @ExactlyOnceListener(queueNames = "${test.byDefault}", key = "#order")
        default void handle(String order, Claim claim) {
            CALLS.add("default " + claim.key() + " of " + name());
        }

        String name();
    }

    static class Implementation implements ByDefault {
        private final String name = "a bean";

        @Override
        public String name() {
            return name;
        }
    }

    @Transactional
    static class OfATransactionalClass {
        @ExactlyOnceListener(queueNames = "${test.transactional}", key = "#order", effects = Effects.DATABASE)
        public void handle(String order) {
            CALLS.add("transactional " + TransactionSynchronizationManager.isActualTransactionActive());
        }

        @ExactlyOnceListener(queueNames = "${test.external}", key = "#order")
        public void handleExternally(String order) {
            CALLS.add("external " + TransactionSynchronizationManager.isActualTransactionActive());
        }
    }

    static class Listeners {
        @ExactlyOnceListener(
                id = "${test.id:by-placeholder}",
                queueNames = "${test.nothing:${test.placeholders}}",
                key = "#order",
                scope = "${test.scope:orders of ${test.id:all}}",
                timeout = "${test.timeout:20s}",
                maxConcurrentMessages = "${test.concurrency:3}",
                maxMessagesPerPoll = "${test.poll:2}")
        void placeholders(String order, Claim claim) {
            CALLS.add("placeholders " + claim.scope());
        }

        @ExactlyOnceListener(queueNames = "${test.object}", key = "#order")
        void object(Object order) {
            CALLS.add("object " + order.getClass().getSimpleName());
        }

        @ExactlyOnceListener(queueNames = "${test.generic}", key = "#pair.left.id + '/' + #pair.right[0].orderId")
        void generic(Pair<Envelope<Order>, List<Order>> pair) {
            CALLS.add("generic " + pair.left().content().orderId());
        }

        @ExactlyOnceListener(queueNames = "${test.nested}", key = "#envelope.content['a'][0].orderId")
        void nested(Envelope<Map<String, List<Order>>> envelope) {
            CALLS.add("nested " + envelope.content().get("a").get(0).orderId());
        }

        @ExactlyOnceListener(queueNames = "${test.converted}", key = "#order", factory = "failing")
        void converted(String order) {
            CALLS.add("converted " + order);
        }

        @ExactlyOnceListener(
                queueNames = "${test.reconciled}",
                scope = "reconciled",
                key = "#order.orderId",
                whenInDoubt = InDoubtPolicy.RECONCILE)
        Order reconciled(Order order) {
            throw new AssertionError("handled");
        }
    }

    static class ByTheLedger implements Reconciler<Order> {
        @Override
        @Transactional(readOnly = true)
        public Reconciliation<Order> reconcile(InDoubtAttempt attempt) {
            CALLS.add("reconciled " + attempt.payload(Order.class).orderId() + " "
                    + TransactionSynchronizationManager.isActualTransactionActive());
            return Reconciliation.done(new Order("found"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFactories {
        @Bean
        ExactlyOnceContainerFactory failing(ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(
                            options -> options.messageConverter(new Failing()).pollTimeout(Duration.ofSeconds(1)))
                    .build());
        }

        @Bean
        SqsListenerConfigurer methods() {
            return registrar -> registrar.setMessageHandlerMethodFactory(new DefaultMessageHandlerMethodFactory());
        }
    }

    /** Fails for some messages, with their text. */
    private static final class Failing extends SqsMessagingMessageConverter {
        @Override
        public org.springframework.messaging.Message<?> toMessagingMessage(
                Message source, MessageConversionContext context) {
            return switch (source.body()) {
                case "secret 1" -> throw new IllegalStateException("unreadable: " + source.body());
                case "secret 2" -> throw new AssertionError("unreadable: " + source.body());
                case "secret 3" -> null;
                default -> super.toMessagingMessage(source, context);
            };
        }
    }

    private TestApplication application;

    @BeforeAll
    void start() {
        CALLS.clear();
        application = TestApplication.onQueues(
                QUEUES,
                Map.of("spring.aop.proxy-target-class", "false"),
                OfAConfiguration.class,
                OfAFullConfiguration.class,
                Implementation.class,
                OfATransactionalClass.class,
                Listeners.class,
                ByTheLedger.class,
                OwnFactories.class);
    }

    @AfterAll
    void stop() {
        application.close();
    }

    private void assertHandledOnce(String queue, String body, String call) {
        CALLS.clear();

        application.handleTwice(queue, body);

        assertThat(CALLS).containsExactly(call);
    }

    @Test
    void methodsOfConfigurationsAreListeners() {
        assertHandledOnce("configuration", "o1", "configuration o1");
        assertHandledOnce("full", "o1", "full o1 true");
    }

    @Test
    void defaultMethodOfAnInterfaceIsAListener() {
        assertHandledOnce("byDefault", "o1", "default o1 of a bean");
    }

    @Test
    void transactionOfAClassIsThatOfItsHandlers() {
        assertHandledOnce("transactional", "o1", "transactional true");
        assertHandledOnce("external", "o1", "external true");
    }

    @Test
    void placeholdersWithDefaultsAreResolved() {
        assertHandledOnce("placeholders", "o1", "placeholders orders of all");

        assertThat(application.container("by-placeholder").getId()).isEqualTo("by-placeholder");
    }

    @Test
    void payloadOfAnyTypeIsItsText() {
        assertHandledOnce("object", "o1", "object String");
    }

    @Test
    void argumentsOfGenericRecordsAreRead() {
        assertHandledOnce(
                "generic",
                "{\"left\":{\"id\":\"e1\",\"content\":{\"orderId\":\"o1\"}},\"right\":[{\"orderId\":\"o2\"}]}",
                "generic o1");
        assertHandledOnce("nested", "{\"id\":\"e1\",\"content\":{\"a\":[{\"orderId\":\"o1\"}]}}", "nested o1");
    }

    @Test
    void reconcilerBehindAProxyOfInterfacesFindsWhatHappened() {
        assertThat(application.context().getBean(Reconciler.class)).isNotInstanceOf(ByTheLedger.class);
        CALLS.clear();
        application.database().sql("""
                        INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token,
                            in_doubt, lease_until, first_claimed_at, claimed_at, expires_at)
                        VALUES ('reconciled', 'o1', 'HELD', gen_random_uuid(), 'worker', 1, 1, false, now(), now(),
                                now(), now() + interval '1 day')""").update();

        SQS.send(application.queue("reconciled"), "{\"orderId\":\"o1\"}");

        SQS.awaitEmpty(application.queue("reconciled"));
        assertThat(CALLS).containsExactly("reconciled o1 true");
        assertThat(application.texts("SELECT result FROM exactly_once_claim WHERE scope = 'reconciled'"))
                .containsExactly("{\"orderId\":\"found\"}");
    }

    /** The messages of the same poll, and of later ones, are handled. */
    @ParameterizedTest
    @ValueSource(strings = {"secret 1", "secret 2", "secret 3"})
    void converterThatFailsCostsItsMessageOnly(String body, CapturedOutput output) {
        CALLS.clear();
        String failing = application.queue("converted");
        int failedBefore = SQS.size(failing);
        SQS.send(failing, body);
        for (int order = 0; order < 20; order++) {
            SQS.send(failing, "for " + body + " " + order);
        }

        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(CALLS).hasSize(20));
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(SQS.size(failing)).isEqualTo(failedBefore + 1));
        assertThat(output).doesNotContain("secret");
    }

    @Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
    static class OfAPrototype {
        @ExactlyOnceListener(id = "prototype", queueNames = "${test.prototype}", key = "#order")
        void handle(String order) {
            CALLS.add("prototype " + order);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class UsesPrototype {
        @Bean
        Object user(OfAPrototype one) {
            return "user";
        }
    }

    /** A prototype that no bean uses, and one of which a bean has an object. */
    @Test
    void prototypeFailsStartup() {
        for (Class<?>[] beans : List.of(
                new Class<?>[] {OfAPrototype.class}, new Class<?>[] {OfAPrototype.class, UsesPrototype.class})) {
            assertThatThrownBy(() -> TestApplication.onQueues(List.of("prototype"), Map.of(), beans))
                    .hasStackTraceContaining("its scope is 'prototype'");
        }
    }

    @Async
    static class OfAnAsynchronousClass {
        @ExactlyOnceListener(queueNames = "${test.async}", key = "#order")
        public void handle(String order) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Asynchronous {}

    @Test
    void asynchronousClassFailsStartup() {
        assertThatThrownBy(() -> TestApplication.onQueues(
                        List.of("async"), Map.of(), OfAnAsynchronousClass.class, Asynchronous.class))
                .hasStackTraceContaining("@Async runs it on another thread");
    }
}
