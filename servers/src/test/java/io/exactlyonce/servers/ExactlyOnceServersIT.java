package io.exactlyonce.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.StringUtils;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** An application in development, whose properties do not name its servers. */
class ExactlyOnceServersIT {

    /**
     * Keeps the threads that all SQS clients of this JVM share. Without this client, each application that ends waits
     * for 2 s until these threads have ended.
     */
    private static final SdkAsyncHttpClient STAYS_OPEN = NettyNioAsyncHttpClient.create();

    static class Orders {

        private final BlockingQueue<String> received = new LinkedBlockingQueue<>();

        @SqsListener("orders")
        void handle(String order) {
            received.add(order);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {

        public static void main(String[] args) {
            SpringApplication.run(App.class, args);
        }
    }

    @Test
    void eachApplicationStoresAndReceivesOnServersOfItsOwnWhichStopWithIt() throws Exception {
        LocalPostgres postgres;
        LocalSqs sqs;
        try (ConfigurableApplicationContext first = run();
                ConfigurableApplicationContext second = run()) {
            assertThatItStoresAndReceives(first, "A-1");
            assertThatItStoresAndReceives(second, "A-2");
            postgres = first.getBean(LocalPostgres.class);
            sqs = first.getBean(LocalSqs.class);
        }
        assertThatNothingListensOn(postgres.port());
        assertThatNothingListensOn(sqs.getEndpoint().getPort());
    }

    @Test
    void serverThatTheApplicationDoesNotConnectToDoesNotStart() {
        try (ConfigurableApplicationContext application = run("--spring.autoconfigure.exclude="
                + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")) {
            assertThat(application.getBeanFactory().containsSingleton("localSqs"))
                    .isTrue();
            assertThat(application.getBeanFactory().containsSingleton("localPostgres"))
                    .isFalse();
        }
    }

    /** Runs after all other customizers, and replaces their settings. */
    static class Customizers {

        @Bean
        @Order
        static SqsAsyncClientCustomizer timeouts() {
            return client -> client.overrideConfiguration(limits -> limits.apiCallTimeout(Duration.ofSeconds(30)));
        }
    }

    @Test
    void queuesThatAreCreatedHaveDeadLetterQueuesWhateverTheApplicationsCustomizersDo() {
        try (ConfigurableApplicationContext application = run(Customizers.class)) {
            assertThat(application
                            .getBean(SqsAsyncClient.class)
                            .serviceClientConfiguration()
                            .overrideConfiguration()
                            .apiCallTimeout())
                    .contains(Duration.ofSeconds(30));
            SqsAsyncClient sqs = application.getBean(SqsAsyncClient.class);
            for (String fifo : List.of("", ".fifo")) {
                application.getBean(SqsTemplate.class).send("payments" + fifo, "A-1");

                assertThat(attributes(sqs, "payments" + fifo))
                        .containsEntry(
                                QueueAttributeName.REDRIVE_POLICY,
                                "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":8}"
                                        .formatted(attributes(sqs, "payments-dlq" + fifo)
                                                .get(QueueAttributeName.QUEUE_ARN)));
            }
        }
    }

    private static Map<QueueAttributeName, String> attributes(SqsAsyncClient sqs, String queue) {
        String url = sqs.getQueueUrl(named -> named.queueName(queue)).join().queueUrl();
        return sqs.getQueueAttributes(asked -> asked.queueUrl(url).attributeNames(QueueAttributeName.ALL))
                .join()
                .attributes();
    }

    @Test
    void schemaThatTheApplicationsUrlNamesIsUsed() {
        try (ConfigurableApplicationContext application = run(
                "--spring.datasource.url=jdbc:postgresql://database.invalid/shop?currentSchema=shop&sslmode=require")) {
            JdbcClient jdbc = application.getBean(JdbcClient.class);
            jdbc.sql("CREATE TABLE fulfilled (order_id text PRIMARY KEY)").update();

            assertThat(jdbc.sql("SELECT schemaname FROM pg_tables WHERE tablename = 'fulfilled'")
                            .query(String.class)
                            .list())
                    .containsExactly("shop");
        }
    }

    private static ConfigurableApplicationContext run(String... arguments) {
        return run(Orders.class, arguments);
    }

    private static ConfigurableApplicationContext run(Class<?> other, String... arguments) {
        String[] common = {
            "--spring.datasource.url=jdbc:postgresql://database.invalid/shop",
            "--spring.cloud.aws.endpoint=http://sqs.invalid",
            "--spring.cloud.aws.sqs.listener.poll-timeout=1s",
            "--spring.main.banner-mode=off"
        };
        return SpringApplication.from(App::main)
                .with(ExactlyOnceServers.class, other)
                .run(StringUtils.concatenateStringArrays(common, arguments))
                .getApplicationContext();
    }

    private static void assertThatItStoresAndReceives(ConfigurableApplicationContext application, String order)
            throws InterruptedException {
        JdbcClient jdbc = application.getBean(JdbcClient.class);
        jdbc.sql("CREATE TABLE fulfilled (order_id text PRIMARY KEY)").update();
        jdbc.sql("INSERT INTO fulfilled VALUES (?)").param(order).update();
        application.getBean(SqsTemplate.class).send("orders", order);

        assertThat(jdbc.sql("SELECT order_id FROM fulfilled")
                        .query(String.class)
                        .list())
                .containsExactly(order);
        assertThat(application.getBean(Orders.class).received.poll(20, TimeUnit.SECONDS))
                .isEqualTo(order);
    }

    private static void assertThatNothingListensOn(int port) {
        assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
                .isInstanceOf(ConnectException.class);
    }
}
