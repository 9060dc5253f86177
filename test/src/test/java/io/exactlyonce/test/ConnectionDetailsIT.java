package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.servers.ExactlyOnceServers;
import io.exactlyonce.servers.LocalPostgres;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Tests an application that finds its servers by connection details only. {@code @ServiceConnection} makes such details
 * for containers.
 */
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
    void listenerAndClaimsUseTheServersOfTheConnectionDetailsAndTheSchemaOfTheApplication() {
        try (ConfigurableApplicationContext application = start()) {
            JdbcClient jdbc =
                    JdbcClient.create(application.getBean(LocalPostgres.class).dataSource());
            jdbc.sql("CREATE TABLE shop.fulfilled (order_id text PRIMARY KEY)").update();

            application.getBean(SqsTemplate.class).send("orders", new Order("A-1"));
            application.getBean(SqsTemplate.class).send("orders", new Order("A-1"));

            await().atMost(Duration.ofSeconds(30))
                    .until(() -> count(jdbc, "shop.exactly_once_claim WHERE status = 'COMPLETED'") == 1);
            assertThat(count(jdbc, "shop.fulfilled WHERE order_id = 'A-1'")).isEqualTo(1);
        }
    }

    private static ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(Application.class, ExactlyOnceServers.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.datasource.url=jdbc:postgresql://database.invalid/shop?currentSchema=shop",
                        "--spring.cloud.aws.sqs.listener.poll-timeout=1s",
                        "--spring.main.banner-mode=off");
    }

    private static int count(JdbcClient jdbc, String rows) {
        return jdbc.sql("SELECT count(*) FROM " + rows).query(Integer.class).single();
    }
}
