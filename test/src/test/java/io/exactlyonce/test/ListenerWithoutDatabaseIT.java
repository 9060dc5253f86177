package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.servers.ExactlyOnceServers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** A listener test as README describes it, with the application's own store and without a database. */
class ListenerWithoutDatabaseIT {

    private static final Duration SOON = Duration.ofSeconds(15);

    private static ConfigurableApplicationContext context;

    record Order(String orderId) {}

    record Call(String orderId, int attempt, boolean inDoubt) {}

    static class Fulfilment {

        private final List<Call> calls = new CopyOnWriteArrayList<>();

        /** Fields of the bean are not accessible, because listeners are proxied. */
        List<Call> calls() {
            return calls;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "orders", key = "#order.orderId")
        String fulfil(Order order, Claim claim) {
            calls.add(new Call(order.orderId(), claim.attempt(), claim.isInDoubt()));
            return "sent";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class Application {

        @Bean
        InMemoryClaimStore claimStore() {
            return new InMemoryClaimStore();
        }

        @Bean
        Fulfilment fulfilment() {
            return new Fulfilment();
        }

        /**
         * Creates the queue with a short visibility timeout, before Spring Cloud AWS would create it with the default.
         */
        @Bean
        Object queue(SqsAsyncClient sqs) {
            return sqs.createQueue(request ->
                            request.queueName("orders").attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "5")))
                    .join();
        }
    }

    @BeforeAll
    static void start() {
        context = new SpringApplicationBuilder(Application.class, ExactlyOnceServers.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.cloud.aws.sqs.listener.poll-timeout=1s",
                        "--spring.cloud.aws.sqs.listener.max-delay-between-polls=500ms",
                        "--spring.main.banner-mode=off");
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @Test
    void duplicateIsNotFulfilledAgain() {
        assertThat(context.getBeanNamesForType(DataSource.class)).isEmpty();
        send("A-1");
        send("A-1");
        send("A-2");

        await().atMost(SOON).until(() -> messages() == 0);

        assertThat(calls("A-1")).containsExactly(new Call("A-1", 1, false));
        assertThat(calls("A-2")).containsExactly(new Call("A-2", 1, false));
        assertThat(store().claim(List.of(claimOf("A-1")))).containsExactly(new AlreadyCompleted("\"sent\""));
    }

    @Test
    void orderOfAWorkerThatDiedIsFulfilledAndKnownToBeInDoubt() {
        ClaimRequest dead = claimOf("A-3");
        store().claim(List.of(dead));
        store().advance(dead.lease());

        send("A-3");

        await().atMost(SOON).until(() -> messages() == 0);
        assertThat(calls("A-3")).containsExactly(new Call("A-3", 2, true));
    }

    private InMemoryClaimStore store() {
        return context.getBean(InMemoryClaimStore.class);
    }

    private List<Call> calls(String orderId) {
        return context.getBean(Fulfilment.class).calls().stream()
                .filter(call -> call.orderId().equals(orderId))
                .toList();
    }

    private void send(String orderId) {
        context.getBean(SqsTemplate.class).send("orders", new Order(orderId));
    }

    private int messages() {
        SqsAsyncClient sqs = context.getBean(SqsAsyncClient.class);
        String url =
                sqs.getQueueUrl(request -> request.queueName("orders")).join().queueUrl();
        return sqs
                .getQueueAttributes(request -> request.queueUrl(url)
                        .attributeNames(
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
                .join()
                .attributes()
                .values()
                .stream()
                .mapToInt(Integer::parseInt)
                .sum();
    }

    private static ClaimRequest claimOf(String orderId) {
        return new ClaimRequest(
                new ClaimKey("orders", orderId), UUID.randomUUID(), "another worker", Duration.ofMinutes(1));
    }
}
