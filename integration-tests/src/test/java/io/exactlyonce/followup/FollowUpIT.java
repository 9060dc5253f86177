package io.exactlyonce.followup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.FollowUp;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.followup.external.Carrier;
import io.exactlyonce.followup.external.Payments;
import io.exactlyonce.testing.DatabaseRole;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.OptionalConfigurations;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.exactlyonce.testing.WorkerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FullyQualifiedAnnotationBeanNameGenerator;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;

/**
 * Handlers of {@code docs/follow-up-messages.md} send messages to a second listener. Processes are killed, the
 * database is down, and messages are repeated. The effect at the end of the chain happens once, and never for a
 * transaction that was rolled back.
 */
@UsesSqs
class FollowUpIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final EmbeddedDatabase DATABASE = EmbeddedDatabase.shared();

    private static final String ORDERS = "exactly-once-it-orders";
    private static final String BOOKINGS = "exactly-once-it-bookings";
    private static final String SHIPMENTS = "exactly-once-it-shipments";
    private static final String IN_ORDER = "exactly-once-it-in-order";
    private static final String SHIPMENTS_IN_ORDER = "exactly-once-it-shipments.fifo";
    private static final String SEVERAL = "exactly-once-it-several";
    private static final String PARCELS = "exactly-once-it-parcels";
    private static final String CONFIRMATIONS = "exactly-once-it-confirmations";
    private static final String SDK = "exactly-once-it-sdk";
    private static final String BATCH = "exactly-once-it-batch";

    /** The step at which an order's process is killed; the order's id begins with the name. */
    enum Stop {
        CHARGED,
        SENT,
        BOOKED,
        COMMITTED,
        RELAYED,
        NEVER;

        boolean isFor(String text) {
            return text.contains(name());
        }
    }

    /** Holds an order where it is to stop, and reports that by a file. */
    static final class Stops {
        private final Path reports;
        private final boolean stopping;

        Stops(Path reports, boolean stopping) {
            this.reports = reports;
            this.stopping = stopping;
        }

        void reached(Stop stop, String text) {
            if (!stopping || !stop.isFor(text)) {
                return;
            }
            try {
                Files.createFile(reports.resolve(stop.name()));
                new CountDownLatch(1).await();
            } catch (IOException | InterruptedException failure) {
                throw new IllegalStateException(failure);
            }
        }
    }

    /** Partner systems that count, in tables that stay available while the application's user is shut out. */
    static final class Partner implements Payments, Carrier {
        private final JdbcClient tables;
        private final Stops stops;

        Partner(String url, String username, String password, Stops stops) {
            PGSimpleDataSource dataSource = new PGSimpleDataSource();
            dataSource.setUrl(url);
            dataSource.setUser(username);
            dataSource.setPassword(password);
            this.tables = JdbcClient.create(dataSource);
            this.stops = stops;
        }

        @Override
        public void charge(String orderId, String idempotencyKey) {
            insert("charge", orderId, idempotencyKey);
            stops.reached(Stop.CHARGED, orderId);
        }

        @Override
        public void order(String orderId, String idempotencyKey) {
            insert("shipment", orderId, idempotencyKey);
        }

        void insert(String table, String orderId, String idempotencyKey) {
            tables.sql("INSERT INTO %s VALUES (?, ?)".formatted(table))
                    .params(orderId, idempotencyKey)
                    .update();
        }
    }

    /** Sees each message that SQS has taken from the application, before its handler or relay continues. */
    static final class Sent implements BeanPostProcessor {
        private final Stops stops;
        private final List<SendMessageRequest> messages = new CopyOnWriteArrayList<>();
        private volatile CountDownLatch held = new CountDownLatch(0);

        Sent(Stops stops) {
            this.stops = stops;
        }

        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            if (!(bean instanceof SqsAsyncClient)) {
                return bean;
            }
            ProxyFactory proxy = new ProxyFactory(bean);
            proxy.addAdvice((MethodInterceptor) call -> {
                Object result = call.proceed();
                return call.getArguments().length == 1 && call.getArguments()[0] instanceof SendMessageRequest request
                        ? ((CompletableFuture<?>) result)
                                .thenApplyAsync(response -> taken(request, response), Sent::onThreadOfItsOwn)
                        : result;
            });
            return proxy.getProxy();
        }

        private static void onThreadOfItsOwn(Runnable action) {
            Thread thread = new Thread(action, "sent");
            thread.setDaemon(true);
            thread.start();
        }

        private Object taken(SendMessageRequest request, Object response) {
            messages.add(request);
            stops.reached(Stop.SENT, request.messageBody());
            stops.reached(Stop.RELAYED, request.messageBody());
            try {
                held.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            return response;
        }

        void hold() {
            held = new CountDownLatch(1);
        }

        void letGo() {
            held.countDown();
        }
    }

    /** Stops a transaction before its commit, or between the commit and the relay; or lets it fail. */
    static final class Published {
        private final Stops stops;
        private final AtomicInteger failures = new AtomicInteger();

        Published(Stops stops) {
            this.stops = stops;
        }

        @EventListener
        void published(Object event) {
            String text = event.toString();
            if (!text.startsWith("Booked[")) {
                return;
            }
            stops.reached(Stop.BOOKED, text);
            TransactionSynchronizationManager.registerSynchronization(
                    new BeforeTheRelay(() -> stops.reached(Stop.COMMITTED, text)));
            if (text.contains("hopeless")) {
                failures.incrementAndGet();
                throw new IllegalStateException("The test lets this transaction fail");
            }
        }
    }

    private record BeforeTheRelay(Runnable action) implements TransactionSynchronization {

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public void afterCommit() {
            action.run();
        }
    }

    /** The chain with both kinds of effects, on three queues. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @ComponentScan(
            basePackages = "io.exactlyonce.followup.external",
            nameGenerator = FullyQualifiedAnnotationBeanNameGenerator.class)
    @ComponentScan(
            basePackages = "io.exactlyonce.followup.outbox",
            nameGenerator = FullyQualifiedAnnotationBeanNameGenerator.class)
    static class Chain {

        @Bean
        static Stops stops(@Value("${test.reports}") Path reports, @Value("${test.stopping}") boolean stopping) {
            return new Stops(reports, stopping);
        }

        @Bean
        static Sent sent(@Value("${test.reports}") Path reports, @Value("${test.stopping}") boolean stopping) {
            return new Sent(new Stops(reports, stopping));
        }

        @Bean
        static Partner partner(
                @Value("${test.partner.url}") String url,
                @Value("${test.partner.username}") String username,
                @Value("${test.partner.password}") String password,
                Stops stops) {
            return new Partner(url, username, password, stops);
        }

        @Bean
        static Published published(Stops stops) {
            return new Published(stops);
        }

        /** The child's main method. */
        public static void main(String[] arguments) {
            SpringApplication.run(Chain.class, arguments);
        }
    }

    private final String database = DATABASE.createDatabase();
    private final JdbcClient jdbc = JdbcClient.create(DATABASE.dataSource(database));

    @TempDir
    private Path directory;

    @BeforeEach
    void createTablesAndQueues() {
        for (String table : List.of("charge", "shipment", "parcel", "confirmation")) {
            jdbc.sql("CREATE TABLE %s (order_id text, key text)".formatted(table))
                    .update();
        }
        jdbc.sql("CREATE TABLE booking (order_id text PRIMARY KEY)").update();
    }

    private static void createQueues(String... queues) {
        for (String queue : queues) {
            SQS.createQueue(queue, 2);
        }
    }

    private static void deleteQueues(String... queues) {
        Stream.of(queues).forEach(SQS::deleteQueue);
    }

    /**
     * One process has stopped at each place when it is killed; the next one finishes everything, and repeats what it
     * must.
     */
    @Test
    void effectAtTheEndOfAChainHappensOnceWhereverItsProcessIsKilled() throws Exception {
        createQueues(ORDERS, BOOKINGS, SHIPMENTS);
        List<String> orders = List.of("CHARGED-1", "SENT-1", "NEVER-1");
        List<String> bookings = List.of("BOOKED-1", "COMMITTED-1", "RELAYED-1", "NEVER-2");
        orders.forEach(order -> SQS.send(ORDERS, json(order)));
        bookings.forEach(booking -> SQS.send(BOOKINGS, json(booking)));

        String[] arguments = TestApplication.arguments(database, properties("jdbc", true));
        try (WorkerProcess worker = WorkerProcess.start(Chain.class, directory, arguments)) {
            for (Stop stop : List.of(Stop.CHARGED, Stop.SENT, Stop.BOOKED, Stop.COMMITTED, Stop.RELAYED)) {
                await().atMost(Duration.ofMinutes(4))
                        .failFast(() -> assertThat(worker.isAlive())
                                .as(Files.readString(directory.resolve("worker.log")))
                                .isTrue())
                        .until(() -> Files.exists(directory.resolve(stop.name())));
            }
            await().atMost(Duration.ofMinutes(1)).until(() -> completedShipments() == 4);
        }
        assertThat(texts("SELECT order_id FROM shipment"))
                .as("sent by the process that was killed")
                .containsExactlyInAnyOrder("SENT-1", "NEVER-1", "RELAYED-1", "NEVER-2");
        assertThat(texts("SELECT order_id FROM booking")).doesNotContain("BOOKED-1");
        assertThat(count("event_publication WHERE status <> 'COMPLETED'")).isEqualTo(2);

        Map<String, String> properties = properties("jdbc", false);
        properties.put("spring.modulith.events.republish-outstanding-events-on-restart", "true");
        try (TestApplication running = TestApplication.start(database, properties, Chain.class)) {
            awaitAllShippedOnce(
                    Stream.concat(orders.stream(), bookings.stream()).toList());
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> count("event_publication WHERE status <> 'COMPLETED'") == 0);
            assertThat(running.bean(Sent.class).messages)
                    .extracting(SendMessageRequest::messageBody)
                    .as("sent again, or for the first time")
                    .containsExactlyInAnyOrder(
                            json("CHARGED-1"),
                            json("SENT-1"),
                            json("BOOKED-1"),
                            json("COMMITTED-1"),
                            json("RELAYED-1"));
            assertThat(suppressed(running)).isGreaterThanOrEqualTo(2);
        } finally {
            deleteQueues(ORDERS, BOOKINGS, SHIPMENTS);
        }
    }

    /**
     * The registry cannot record that the message is sent, and the relay sends it again; then everything is sent
     * again.
     */
    @ParameterizedTest
    @ValueSource(strings = {"jdbc", "jpa"})
    void effectHappensOnceHoweverOftenTheRelaySendsItsMessage(String outbox) {
        createQueues(ORDERS, BOOKINGS, SHIPMENTS);
        DatabaseRole application = DatabaseRole.create(database);
        Map<String, String> properties = properties(outbox, false);
        properties.put("spring.datasource.username", application.name());
        properties.put("spring.datasource.hikari.connection-timeout", "500");
        properties.put("exactly-once.datasource.url", database);
        properties.put("exactly-once.datasource.username", DATABASE.username());
        properties.put("exactly-once.datasource.password", DATABASE.password());
        try (TestApplication running = TestApplication.start(database, properties, Chain.class)) {
            Sent sent = running.bean(Sent.class);
            sent.hold();
            SQS.send(BOOKINGS, json("b1"));
            await().atMost(Duration.ofSeconds(20)).until(() -> sent.messages.size() == 1);

            application.shutOut();
            sent.letGo();
            awaitAllShippedOnce(List.of("b1"));
            application.restore();

            IncompleteEventPublications publications = running.bean(IncompleteEventPublications.class);
            await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> {
                publications.resubmitIncompletePublicationsOlderThan(Duration.ZERO);
                return sent.messages.size() > 1 && count("event_publication WHERE completion_date IS NULL") == 0;
            });
            // The relay may still be sending.
            List<SendMessageRequest> known = List.copyOf(sent.messages);
            for (SendMessageRequest message : known) {
                SQS.client().sendMessage(message);
            }

            int sentAgain = 2 * known.size() - 1;
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(suppressed(running)).isGreaterThanOrEqualTo(sentAgain));
            awaitAllShippedOnce(List.of("b1"));
        } finally {
            deleteQueues(ORDERS, BOOKINGS, SHIPMENTS);
        }
    }

    /** The key is no secret. A party that may send to the receiver's queue can be first, with a body of its own. */
    @Test
    void forgedFollowUpSuppressesTheGenuineOneWhichIsRefused() {
        createQueues(ORDERS, BOOKINGS, SHIPMENTS);
        try (TestApplication running = TestApplication.start(database, properties("jdbc", false), Chain.class)) {
            FollowUp forged = new FollowUp(new ClaimKey(ORDERS, "f1").downstreamKey("shipped"));
            SQS.client()
                    .sendMessage(request -> request.queueUrl(SQS.urlOf(SHIPMENTS))
                            .messageBody(json("elsewhere"))
                            .messageAttributes(forged.attributes()));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> texts("SELECT order_id FROM shipment").contains("elsewhere"));

            SQS.send(ORDERS, json("f1"));

            await().atMost(Duration.ofSeconds(20))
                    .until(() -> running.count("exactly.once.claims", "outcome", "mismatch") > 0);
            assertThat(texts("SELECT order_id FROM charge")).containsExactly("f1");
            assertThat(texts("SELECT order_id FROM shipment")).containsExactly("elsewhere");
            // The delete of the forged message may still be buffered.
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(SQS.size(SHIPMENTS))
                            .as("the genuine one is not deleted")
                            .isEqualTo(1));
        } finally {
            deleteQueues(ORDERS, BOOKINGS, SHIPMENTS);
        }
    }

    @Test
    void transactionThatIsRolledBackSendsNothing() {
        createQueues(ORDERS, BOOKINGS, SHIPMENTS);
        try (TestApplication running = TestApplication.start(database, properties("jdbc", false), Chain.class)) {
            SQS.send(BOOKINGS, json("hopeless"));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> running.bean(Published.class).failures.get() >= 2);
            SQS.send(BOOKINGS, json("b2"));
            awaitAllShippedOnce(List.of("b2"));

            assertThat(running.bean(Sent.class).messages).hasSize(1);
            assertThat(count("event_publication")).isEqualTo(1);
            assertThat(texts("SELECT order_id FROM booking")).containsExactly("b2");
        } finally {
            deleteQueues(ORDERS, BOOKINGS, SHIPMENTS);
        }
    }

    /** The other senders of the page, and a batch whose messages each have a claim. */
    @Configuration(proxyBeanMethods = false)
    @ComponentScan(
            basePackages = "io.exactlyonce.followup.ordered",
            nameGenerator = FullyQualifiedAnnotationBeanNameGenerator.class)
    @ComponentScan(
            basePackages = "io.exactlyonce.followup.several",
            nameGenerator = FullyQualifiedAnnotationBeanNameGenerator.class)
    @ComponentScan(
            basePackages = "io.exactlyonce.followup.sdk",
            nameGenerator = FullyQualifiedAnnotationBeanNameGenerator.class)
    static class Senders {

        @Bean
        static Receivers receivers(
                @Value("${test.partner.url}") String url,
                @Value("${test.partner.username}") String username,
                @Value("${test.partner.password}") String password) {
            return new Receivers(new Partner(url, username, password, new Stops(Path.of(""), false)));
        }

        @Bean
        static Batch batch(SqsTemplate sqs) {
            return new Batch(sqs);
        }
    }

    static class Batch {
        private final SqsTemplate sqs;

        Batch(SqsTemplate sqs) {
            this.sqs = sqs;
        }

        @ExactlyOnceListener(id = "batch", queueNames = BATCH, key = "#payload")
        void handle(List<String> orders, List<Claim> claims) {
            for (int index = 0; index < orders.size(); index++) {
                String order = orders.get(index);
                FollowUp handled = claims.get(index).followUp("handled");
                sqs.send(to -> to.queue(SHIPMENTS).payload(json(order)).headers(handled.headers()));
            }
        }
    }

    static class Receivers {
        private final Partner partner;

        Receivers(Partner partner) {
            this.partner = partner;
        }

        @ExactlyOnceListener(id = "shipments", queueNames = SHIPMENTS)
        void ship(Map<String, String> message, Claim claim) {
            partner.insert("shipment", message.get("orderId"), claim.key());
        }

        @ExactlyOnceListener(id = "shipments-in-order", queueNames = SHIPMENTS_IN_ORDER)
        void shipInOrder(Map<String, String> message, Claim claim) {
            partner.insert("shipment", message.get("orderId"), claim.key());
        }

        @ExactlyOnceListener(id = "parcels", queueNames = PARCELS)
        void pack(Map<String, String> message, Claim claim) {
            partner.insert("parcel", message.get("orderId") + "/" + message.get("article"), claim.key());
        }

        @ExactlyOnceListener(id = "confirmations", queueNames = CONFIRMATIONS)
        void confirm(Map<String, String> message, Claim claim) {
            partner.insert("confirmation", message.get("orderId"), claim.key());
        }
    }

    /** The senders' claims are forgotten, so each handler runs again, and sends what it has sent before. */
    @Test
    void everyWayToSendCarriesTheKey() {
        String[] queues = {IN_ORDER, SEVERAL, SDK, BATCH, SHIPMENTS, PARCELS, CONFIRMATIONS};
        createQueues(queues);
        SQS.createFifoQueue(SHIPMENTS_IN_ORDER);
        try (TestApplication running = TestApplication.start(database, properties("", false), Senders.class)) {
            sendToSenders();
            awaitEffectsOfAllSenders();
            assertThat(texts("SELECT order_id FROM parcel")).containsExactlyInAnyOrder("m1/pen", "m1/ink");

            running.database()
                    .sql("DELETE FROM exactly_once_claim WHERE scope IN (:senders)")
                    .param("senders", List.of(IN_ORDER, SEVERAL, SDK, BATCH))
                    .update();
            sendToSenders();

            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(suppressed(running))
                            .as("SDK, two of the batch, two parcels, a confirmation; SQS itself drops the FIFO message")
                            .isGreaterThanOrEqualTo(6));
            awaitEffectsOfAllSenders();
        } finally {
            deleteQueues(queues);
            deleteQueues(SHIPMENTS_IN_ORDER);
        }
    }

    private void sendToSenders() {
        SQS.send(IN_ORDER, "{\"orderId\":\"f1\",\"customerId\":\"c1\"}");
        SQS.send(
                SEVERAL,
                "{\"orderId\":\"m1\",\"lines\":[{\"number\":1,\"article\":\"pen\"},{\"number\":2,\"article\":\"ink\"}]}");
        SQS.send(SDK, json("s1"));
        SQS.send(BATCH, "t1");
        SQS.send(BATCH, "t2");
    }

    private void awaitEffectsOfAllSenders() {
        for (String queue :
                List.of(IN_ORDER, SEVERAL, SDK, BATCH, SHIPMENTS, SHIPMENTS_IN_ORDER, PARCELS, CONFIRMATIONS)) {
            SQS.awaitEmpty(queue);
        }
        assertThat(texts("SELECT order_id FROM shipment")).containsExactlyInAnyOrder("f1", "s1", "t1", "t2");
        assertThat(count("parcel")).isEqualTo(2);
        assertThat(texts("SELECT order_id FROM confirmation")).containsExactly("m1");
        assertThat(texts("SELECT key FROM shipment UNION SELECT key FROM parcel UNION SELECT key FROM confirmation"))
                .hasSize(7)
                .allMatch(key -> key.matches("[0-9a-f]{64}"));
    }

    private void awaitAllShippedOnce(List<String> orders) {
        await().atMost(Duration.ofSeconds(40)).until(() -> count("shipment") >= orders.size());
        SQS.awaitEmpty(SHIPMENTS);
        assertThat(texts("SELECT order_id FROM shipment")).containsExactlyInAnyOrderElementsOf(orders);
    }

    private static double suppressed(TestApplication running) {
        return running.outcomes("already_completed");
    }

    /** A receiver that is killed would leave its own key in doubt, and its partner would see the key again. */
    private int completedShipments() {
        return count("exactly_once_claim WHERE status = 'COMPLETED' AND scope = '%s'".formatted(SHIPMENTS));
    }

    private int count(String rows) {
        return jdbc.sql("SELECT count(*) FROM " + rows).query(Integer.class).single();
    }

    private List<String> texts(String sql) {
        return jdbc.sql(sql).query(String.class).list();
    }

    private static String json(String order) {
        return "{\"orderId\":\"%s\"}".formatted(order);
    }

    private Map<String, String> properties(String outbox, boolean stopping) {
        Map<String, String> properties = new HashMap<>();
        properties.put(OptionalConfigurations.OUTBOX, outbox);
        properties.put("test.reports", directory.toString());
        properties.put("test.stopping", String.valueOf(stopping));
        properties.put("test.partner.url", database);
        properties.put("test.partner.username", DATABASE.username());
        properties.put("test.partner.password", DATABASE.password());
        properties.put("exactly-once.retry.initial-delay", "1s");
        properties.put("spring.main.web-application-type", "none");
        if (outbox.equals("jdbc")) {
            properties.put("spring.modulith.events.jdbc.schema-initialization.enabled", "true");
        }
        if (outbox.equals("jpa")) {
            properties.put("spring.autoconfigure.exclude", "");
            properties.put("spring.jpa.hibernate.ddl-auto", "update");
        }
        return properties;
    }
}
