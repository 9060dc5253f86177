package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.autoconfigure.core.AwsConnectionDetails;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Servers that an application knows by connection details only, as {@code @ServiceConnection} makes them of containers. */
class ConnectionDetailsIT {

    record Order(String orderId) {}

    static class Orders {

        private final JdbcClient jdbc;

        Orders(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId", effects = Effects.DATABASE)
        void fulfil(Order order) {
            jdbc.sql("INSERT INTO fulfilled VALUES (?)").param(order.orderId()).update();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Orders.class)
    static class Application {}

    @Test
    void listenerAndClaimsUseTheServersOfTheConnectionDetails() throws IOException {
        SQSRestServer sqs = SQSRestServerBuilder.withInterface("127.0.0.1")
                .withDynamicPort()
                .start();
        try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().start();
                ConfigurableApplicationContext application = start(postgres, sqs)) {
            JdbcClient jdbc = JdbcClient.create(postgres.getPostgresDatabase());

            application.getBean(SqsTemplate.class).send("orders", new Order("A-1"));
            application.getBean(SqsTemplate.class).send("orders", new Order("A-1"));

            await().atMost(Duration.ofSeconds(30))
                    .until(() -> count(jdbc, "exactly_once_claim WHERE status = 'COMPLETED'") == 1);
            assertThat(count(jdbc, "fulfilled WHERE order_id = 'A-1'")).isEqualTo(1);
        } finally {
            sqs.stopAndWait();
        }
    }

    private static ConfigurableApplicationContext start(EmbeddedPostgres postgres, SQSRestServer sqs) {
        JdbcClient.create(postgres.getPostgresDatabase())
                .sql("CREATE TABLE fulfilled (order_id text PRIMARY KEY)")
                .update();
        ApplicationContextInitializer<GenericApplicationContext> details = context -> {
            context.registerBean(JdbcConnectionDetails.class, () -> new Database(postgres));
            context.registerBean(AwsConnectionDetails.class, () -> new Queues(sqs));
        };
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .initializers(details)
                .run(
                        "--exactly-once.claim.initialize-schema=always",
                        "--spring.cloud.aws.sqs.queue-not-found-strategy=create",
                        "--spring.cloud.aws.sqs.listener.poll-timeout=1s",
                        "--spring.main.banner-mode=off");
    }

    private static int count(JdbcClient jdbc, String rows) {
        return jdbc.sql("SELECT count(*) FROM " + rows).query(Integer.class).single();
    }

    private record Database(EmbeddedPostgres server) implements JdbcConnectionDetails {

        @Override
        public String getJdbcUrl() {
            return server.getJdbcUrl("postgres", "postgres");
        }

        @Override
        public String getUsername() {
            return "postgres";
        }

        @Override
        public String getPassword() {
            return "";
        }
    }

    private record Queues(SQSRestServer server) implements AwsConnectionDetails {

        @Override
        public URI getEndpoint() {
            return URI.create("http://127.0.0.1:"
                    + server.waitUntilStarted().localAddress().getPort());
        }

        @Override
        public String getRegion() {
            return "eu-central-1";
        }

        @Override
        public String getAccessKey() {
            return "x";
        }

        @Override
        public String getSecretKey() {
            return "x";
        }
    }
}
