package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.servers.LocalSqs;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.TestApplication;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsClient;

/** An application of two regions, which have a queue of the same name. Two servers simulate the regions. */
@ExtendWith(OutputCaptureExtension.class)
class TwoServersIT {

    private static final List<String> HANDLED = new CopyOnWriteArrayList<>();

    private static LocalSqs eu;
    private static LocalSqs us;

    /** Defines a client and a container factory for each region, as such applications do. */
    static class Regions {

        @Bean
        @Primary
        static SqsAsyncClient euClient(@Value("${eu}") URI endpoint) {
            return client(endpoint);
        }

        @Bean
        static SqsAsyncClient usClient(@Value("${us}") URI endpoint) {
            return client(endpoint);
        }

        private static SqsAsyncClient client(URI endpoint) {
            return SqsAsyncClient.builder()
                    .endpointOverride(endpoint)
                    .region(Region.EU_CENTRAL_1)
                    .credentialsProvider(AnonymousCredentialsProvider.create())
                    .build();
        }

        @Bean
        static SqsMessageListenerContainerFactory<Object> defaultSqsListenerContainerFactory(SqsAsyncClient euClient) {
            return factory(euClient);
        }

        @Bean
        static SqsMessageListenerContainerFactory<Object> bulk(@Qualifier("usClient") SqsAsyncClient usClient) {
            return factory(usClient);
        }

        private static SqsMessageListenerContainerFactory<Object> factory(SqsAsyncClient client) {
            return SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .configure(options -> options.pollTimeout(Duration.ofSeconds(1)))
                    .build();
        }

        @ExactlyOnceListener(id = "eu", queueNames = "orders", key = "#order", scope = "${scope.eu:}")
        void eu(String order) {
            HANDLED.add("eu " + order);
        }

        @ExactlyOnceListener(
                id = "us",
                queueNames = "${us.queue:orders}",
                key = "#order",
                scope = "${scope.us:}",
                factory = "preparedBulk")
        void us(String order) {
            HANDLED.add("us " + order);
        }
    }

    static class Prepared {

        // tag::prepare
        @Bean
        ExactlyOnceContainerFactory preparedBulk(
                ExactlyOnceContainerFactoryConfigurer configurer,
                @Qualifier("bulk") SqsMessageListenerContainerFactory<?> bulk) {
            return configurer.prepare(bulk);
        }
        // end::prepare
    }

    @BeforeAll
    static void startServers() {
        eu = LocalSqs.start();
        us = LocalSqs.start();
        send(eu);
        send(us);
    }

    private static void send(LocalSqs server) {
        try (SqsClient client = LocalSqs.client(server.getEndpoint())) {
            String url = client.createQueue(queue -> queue.queueName("orders")).queueUrl();
            client.sendMessage(message -> message.queueUrl(url).messageBody("A-1"));
        }
    }

    @AfterAll
    static void stopServers() {
        eu.close();
        us.close();
    }

    private static TestApplication start(Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(
                Map.of("eu", eu.getEndpoint().toString(), "us", us.getEndpoint().toString()));
        all.putAll(properties);
        return TestApplication.start(EmbeddedDatabase.shared().createDatabase(), all, Regions.class, Prepared.class);
    }

    @Test
    void queuesOfOneNameOnTwoServersFailStartupUnlessEachHasAScope(CapturedOutput output) {
        assertThatThrownBy(() -> start(Map.of()))
                .hasRootCauseInstanceOf(InvalidListenerException.class)
                .rootCause()
                .hasMessageContaining("these two queues have one name, so they share keys")
                .hasMessageContaining(
                        "istener 'eu' (io.exactlyonce.listener.TwoServersIT$Regions.eu) on queue " + eu.getEndpoint())
                .hasMessageContaining(
                        "istener 'us' (io.exactlyonce.listener.TwoServersIT$Regions.us) on queue " + us.getEndpoint());
        assertThat(output).contains("APPLICATION FAILED TO START", "set scope on both listeners");
        HANDLED.clear();
        send(eu);
        send(us);

        try (TestApplication application = start(Map.of("scope.eu", "orders-eu", "scope.us", "orders-us"))) {
            await().untilAsserted(() -> assertThat(HANDLED).contains("eu A-1", "us A-1"));
            assertThat(HANDLED).hasSize(2);
            assertThat(application.texts("SELECT DISTINCT scope FROM exactly_once_claim ORDER BY 1"))
                    .containsExactly("orders-eu", "orders-us");
        }
        assertThat(output).doesNotContain("has the scope", "claims no keys");
    }

    @Test
    void factoryIsPreparedAsDocumented() {
        assertThat(DocumentedCode.of("adopt.md").block("prepare"))
                .isEqualTo(DocumentedCode.example(TwoServersIT.class, "prepare"));
    }

    /** The client sends its requests to its own server, whatever the host of the queue's URL. */
    @Test
    void nameAndUrlsOfOneQueueShareItsKeys() {
        String url = us.getEndpoint().toString().replace("127.0.0.1", "LOCALHOST") + "/000000000000/orders/";

        try (TestApplication application = start(Map.of("eu", us.getEndpoint().toString(), "us.queue", url))) {
            assertThat(application.container("eu").isRunning()).isTrue();
            assertThat(application.container("us").isRunning()).isTrue();
        }
    }
}
