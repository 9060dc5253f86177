package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;

/** All kinds of listener methods in one application. Each gets a message twice, and handles it once. */
@UsesSqs
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HandlerKindsIT {

    private static final int WINDOW_SECONDS = 10;
    private static final SqsServer SQS = SqsServer.shared();
    private static final List<String> QUEUES = List.of(
            "one", "two", "shared", "inherited", "declared", "transactional", "converted", "attributes", "sns", "raw");

    /** The calls that the handlers received. */
    static final List<String> CALLS = new CopyOnWriteArrayList<>();

    /** Records the threads of some calls as text, because Java 17 has no other way to identify virtual threads. */
    static final List<String> THREADS = new CopyOnWriteArrayList<>();

    interface Declared {
        @ExactlyOnceListener(queueNames = "${test.declared}", key = "#order")
        void declared(String order, Claim claim);
    }

    static class Implementation implements Declared {
        @Override
        public void declared(String order, Claim claim) {
            CALLS.add("declared " + claim.key());
        }
    }

    abstract static class Parent<T> {
        @ExactlyOnceListener(queueNames = "${test.inherited}", key = "#order")
        public void inherited(T order, Claim claim) {
            CALLS.add("inherited " + order + " " + claim.key());
        }
    }

    static class Child extends Parent<String> {}

    static class Listeners {

        @ExactlyOnceListener(
                queueNames = {"${test.one}", "${test.two}"},
                key = "#order")
        void several(String order) {
            THREADS.add(Thread.currentThread().toString());
            CALLS.add("several " + order);
        }

        @ExactlyOnceListener(queueNames = "${test.shared}", key = "#order")
        void first(String order) {
            CALLS.add("shared " + order);
        }

        @ExactlyOnceListener(queueNames = "${test.shared}", key = "#order")
        void second(String order) {
            CALLS.add("shared " + order);
        }

        @ExactlyOnceListener(queueNames = "${test.attributes}", key = "#customer")
        void attributes(String order, @Header("customer") String customer) {
            CALLS.add("attributes " + order + " of " + customer);
        }

        @ExactlyOnceListener(queueNames = "${test.sns}", key = "#order")
        void enveloped(@SnsNotificationMessage String order) {
            CALLS.add("sns " + order);
        }

        @ExactlyOnceListener(queueNames = "${test.raw}", key = "#message.body()")
        void raw(Message message) {
            CALLS.add("raw " + message.body());
        }

        @ExactlyOnceListener(id = "converted", queueNames = "${test.converted}", key = "#order", factory = "mine")
        void converted(String order) {
            CALLS.add(order);
        }
    }

    static class Transactions {
        private final JdbcClient jdbc;

        Transactions(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        @ExactlyOnceListener(queueNames = "${test.transactional}", key = "#order")
        void transactional(String order, Claim claim) {
            jdbc.sql("INSERT INTO shipment VALUES (?)").param(order).update();
            CALLS.add("transactional " + TransactionSynchronizationManager.isActualTransactionActive());
            if (claim.attempt() == 1) {
                throw new IllegalStateException("rolled back");
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFactory {

        /** Makes a factory that also requests a forbidden setting: to delete messages in any case. */
        @Bean
        ExactlyOnceContainerFactory mine(ExactlyOnceContainerFactoryConfigurer configurer, SqsAsyncClient client) {
            return configurer.prepare(SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options -> options.messageConverter(new Shouting())
                            .acknowledgementMode(AcknowledgementMode.ALWAYS)
                            .pollTimeout(Duration.ofSeconds(1)))
                    .build());
        }
    }

    /** Creates a new message from each message, with Spring Cloud AWS's headers but without the delivery. */
    private static final class Shouting extends SqsMessagingMessageConverter {
        @Override
        public org.springframework.messaging.Message<?> toMessagingMessage(
                Message source, MessageConversionContext context) {
            return MessageBuilder.withPayload("converted " + source.body().toUpperCase(Locale.ROOT))
                    .copyHeaders(super.toMessagingMessage(source, context).getHeaders())
                    .build();
        }
    }

    private final Map<String, String> names = new HashMap<>();
    private TestApplication application;

    @BeforeAll
    void start() {
        QUEUES.forEach(queue -> names.put("test." + queue, SQS.createQueue(WINDOW_SECONDS)));
        names.put("spring.threads.virtual.enabled", "true");
        String database = EmbeddedDatabase.shared().createDatabase();
        JdbcClient.create(EmbeddedDatabase.shared().dataSource(database))
                .sql("CREATE TABLE shipment (id text)")
                .update();
        application = TestApplication.start(
                database,
                names,
                Listeners.class,
                Implementation.class,
                Child.class,
                Transactions.class,
                OwnFactory.class);
    }

    @AfterAll
    void stop() {
        application.close();
    }

    private String name(String queue) {
        return names.get("test." + queue);
    }

    private void sendTwice(String queue, String body) {
        SQS.send(name(queue), body);
        SQS.send(name(queue), body);
    }

    private void awaitEmpty(String queue) {
        SQS.awaitEmpty(name(queue));
    }

    private static boolean hasVirtualThreads() {
        return Runtime.version().feature() >= 21;
    }

    private static List<String> calls(String prefix) {
        return CALLS.stream().filter(call -> call.startsWith(prefix)).toList();
    }

    @Test
    void eachQueueOfAListenerHasKeysOfItsOwnAndItsHandlersRunOnVirtualThreadsWhereThereAreAny() {
        sendTwice("one", "o1");
        sendTwice("two", "o1");

        awaitEmpty("one");
        awaitEmpty("two");
        assertThat(calls("several")).containsExactly("several o1", "several o1");
        assertThat(THREADS).hasSize(2).allMatch(thread -> thread.startsWith("VirtualThread") == hasVirtualThreads());
    }

    @Test
    void listenersOnOneQueueShareItsKeys() {
        for (int order = 1; order <= 10; order++) {
            sendTwice("shared", "o" + order);
        }

        awaitEmpty("shared");
        assertThat(calls("shared")).hasSize(10).doesNotHaveDuplicates();
    }

    @Test
    void annotationIsInherited() {
        sendTwice("inherited", "o1");
        sendTwice("declared", "o1");

        awaitEmpty("inherited");
        awaitEmpty("declared");
        assertThat(calls("inherited")).containsExactly("inherited o1 o1");
        assertThat(calls("declared")).containsExactly("declared o1");
    }

    @Test
    void transactionIsInsideTheClaim() {
        sendTwice("transactional", "o1");

        awaitEmpty("transactional");
        assertThat(calls("transactional")).containsExactly("transactional true", "transactional true");
        assertThat(application.texts("SELECT id FROM shipment")).containsExactly("o1");
    }

    @Test
    void containerFactoryAndConverterOfTheApplicationAreUsedButNotItsAcknowledgementMode() {
        sendTwice("converted", "o1");

        awaitEmpty("converted");
        assertThat(calls("converted")).containsExactly("converted O1");
        assertThat(application.container("converted").getContainerOptions().getAcknowledgementMode())
                .isEqualTo(AcknowledgementMode.ON_SUCCESS);
    }

    @Test
    void messageOfTheSdkIsAnArgument() {
        sendTwice("raw", "o1");

        awaitEmpty("raw");
        assertThat(calls("raw")).containsExactly("raw o1");
    }
}
