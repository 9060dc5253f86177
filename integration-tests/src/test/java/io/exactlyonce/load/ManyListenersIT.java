package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.jdbc.core.JdbcTemplate;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.SqsRequest;

/** Two hundred listeners in one application, each on a queue of its own. */
@LoadTrial
class ManyListenersIT {

    private static final int LISTENERS = Trial.choose(200, 40);
    private static final int FEW = LISTENERS / 4;
    private static final int MESSAGES_EACH = 5;
    private static final int WINDOW_SECONDS = 30;

    private static final Duration HELD = Duration.ofSeconds(Trial.choose(40, 18));

    /** The connections beyond one for the poll of each listener. */
    private static final int CONNECTIONS = 50;

    /**
     * The highest permitted ratio of processor times for four times as many listeners. A quadratic cost would give 16.
     */
    private static final int MOST_TIMES_THE_START_OF_FEW = 8;

    private static final SqsServer SQS = SqsServer.shared();

    /** The requests that each listener sends to SQS at startup. */
    private static final List<Class<? extends SqsRequest>> AT_THE_START =
            List.of(GetQueueUrlRequest.class, GetQueueAttributesRequest.class);

    @Configuration(proxyBeanMethods = false)
    @Import(Registrar.class)
    static class Shop {}

    /** Registers one bean of the same class for each queue. */
    static class Registrar implements ImportBeanDefinitionRegistrar {
        private final Environment environment;

        Registrar(Environment environment) {
            this.environment = environment;
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importer, BeanDefinitionRegistry registry) {
            String[] names = environment.getRequiredProperty("test.queues", String[].class);
            registry.registerBeanDefinition(
                    "queues", new RootBeanDefinition(Queues.class, () -> new Queues(List.of(names))));
            registry.registerBeanDefinition("orders", new RootBeanDefinition(HeldOrders.class, HeldOrders::new));
            for (int listener = 0; listener < names.length; listener++) {
                registry.registerBeanDefinition("listener" + listener, new RootBeanDefinition(Listener.class));
            }
        }
    }

    /** Hands each listener its queue. */
    public static class Queues {
        private final Iterator<String> names;

        Queues(List<String> names) {
            this.names = names.iterator();
        }

        public String next() {
            return names.next();
        }
    }

    static class Listener {
        private final HeldOrders orders;

        Listener(HeldOrders orders) {
            this.orders = orders;
        }

        @ExactlyOnceListener(queueNames = "#{@queues.next()}", key = "#order")
        CompletableFuture<Void> handle(String order) {
            return orders.handle(order);
        }
    }

    /** Polls occupy connections while they wait, and renewals and deletes need connections, too. */
    static class Connections implements SqsAsyncClientCustomizer {
        private final int most;

        Connections(Environment environment) {
            this.most = environment.getRequiredProperty("test.connections", Integer.class);
        }

        @Override
        public void customize(SqsAsyncClientBuilder builder) {
            builder.httpClientBuilder(NettyNioAsyncHttpClient.builder().maxConcurrency(most));
        }
    }

    private final String deadLetters = SQS.createQueue(30);
    private final List<String> queues = Stream.generate(() -> SQS.createQueue(WINDOW_SECONDS, deadLetters, 5))
            .limit(LISTENERS)
            .toList();
    private final String url = EmbeddedDatabase.shared().createDatabase();

    private TestApplication start(int listeners, Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.put("test.queues", String.join(",", queues.subList(0, listeners)));
        all.putIfAbsent("test.connections", String.valueOf(listeners + CONNECTIONS));
        return TestApplication.start(url, all, Shop.class, Connections.class, SqsRequests.class);
    }

    private static double requestsAtTheStart(TestApplication application, int listeners) {
        SqsRequests requests = application.bean(SqsRequests.class);
        int sum =
                AT_THE_START.stream().mapToInt(type -> requests.of(type).size()).sum();
        return (double) sum / listeners;
    }

    private int connections() {
        Integer count = new JdbcTemplate(EmbeddedDatabase.shared().dataSource(url))
                .queryForObject(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND application_name = 'exactly-once-claims'",
                        Integer.class);
        return count == null ? 0 : count;
    }

    @Test
    void theyShareThreadsAndConnectionsAndEachHandlesItsMessagesOnce() throws Exception {
        List<String> threadsOfFew;
        double requestsOfFew;
        Duration startOfFew;
        Duration processorOfFew;
        Footprint few = Footprint.begin();
        try (TestApplication application = start(FEW, Map.of())) {
            startOfFew = few.time();
            processorOfFew = few.processorTime();
            threadsOfFew = Footprint.threads("exactly-once-");
            requestsOfFew = requestsAtTheStart(application, FEW);
        }

        Footprint footprint = Footprint.begin();
        try (TestApplication application = start(LISTENERS, Map.of())) {
            Duration started = footprint.time();
            assertThat(footprint.processorTime()).isLessThan(processorOfFew.multipliedBy(MOST_TIMES_THE_START_OF_FEW));
            assertThat(requestsAtTheStart(application, LISTENERS)).isLessThan(requestsOfFew * 1.5);
            assertThat(Footprint.threads("exactly-once-renewal-")).hasSize(2);
            assertThat(Footprint.threads("exactly-once-leases-")).hasSizeLessThanOrEqualTo(1);
            assertThat(Footprint.threads("exactly-once-watch-")).hasSize(1);

            handleAll(application);

            List<String> threads = Footprint.threads("exactly-once-");
            assertThat(Footprint.threads("exactly-once-claims-1")).hasSize(1);
            assertThat(Footprint.threads("exactly-once-claims-2")).hasSize(1);
            assertThat(threads).hasSizeLessThanOrEqualTo(threadsOfFew.size() + 6);
            assertThat(connections()).isLessThanOrEqualTo(11);
            Trial.note(
                    "3-listeners",
                    "%d listeners in one application, each on its queue".formatted(LISTENERS),
                    "each message handled once, for %d s, window %d s; no window or lease lost; two threads that look for due renewals, two that claim, %d of ours in all; %d connections of claims"
                            .formatted(HELD.toSeconds(), WINDOW_SECONDS, threads.size(), connections()),
                    "started in %.1f s (%d of them: %.1f s); %d threads at the most; %.0f MB of heap"
                            .formatted(
                                    started.toMillis() / 1e3,
                                    FEW,
                                    startOfFew.toMillis() / 1e3,
                                    footprint.mostThreads(),
                                    footprint.heapBytes() / 1e6));
        }
    }

    @Test
    void auditReportsWherePollsMayKeepAllConnections() {
        int connections = LISTENERS / 2;
        try (TestApplication application = start(LISTENERS, Map.of("test.connections", String.valueOf(connections)))) {
            QueueAudit audit = application.bean(QueueAudit.class);

            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofSeconds(2))
                    .until(() -> audit.reports().stream()
                            .flatMap(report -> report.findings().stream())
                            .anyMatch(finding -> finding.rule().equals("sqs-connections")
                                    && finding.found().contains("has %d connections".formatted(connections))));
        }
    }

    private void handleAll(TestApplication application) throws Exception {
        HeldOrders orders = application.bean(HeldOrders.class);
        int messages = LISTENERS * MESSAGES_EACH;
        for (String queue : queues) {
            Senders.send(SQS, queue, MESSAGES_EACH, number -> queue + number);
        }
        await().atMost(Duration.ofSeconds(60)).until(() -> orders.runs().size() == messages);
        Trial.hold(HELD, () -> application.claims("HELD") == messages);
        orders.release();
        await().atMost(Duration.ofSeconds(60))
                .until(() -> queues.stream().mapToInt(SQS::size).sum() == 0);

        orders.assertEachOnce(messages);
        assertThat(application.claims("COMPLETED")).isEqualTo(messages);
        assertThat(SQS.size(deadLetters)).isZero();
        assertThat(lost(application)).isZero();
        assertThat(application.bean(SqsRequests.class).mostReceives()).isEqualTo(1);
    }

    private static double lost(TestApplication application) {
        return application
                .bean(MeterRegistry.class)
                .find("exactly.once.renewals")
                .tags("result", "lost")
                .counters()
                .stream()
                .mapToDouble(Counter::count)
                .sum();
    }
}
