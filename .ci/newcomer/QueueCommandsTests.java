package shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.audit.AuditReport;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.servers.LocalPostgres;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** The example on the queues that README's commands and the CloudFormation template created at SQS_SERVER, with README's configuration. */
@SpringBootTest
@ExtendWith(OutputCaptureExtension.class)
class QueueCommandsTests {

    @TestConfiguration(proxyBeanMethods = false)
    static class Database {

        @Bean
        LocalPostgres postgres() {
            return LocalPostgres.start();
        }

        @Bean
        Payments payments() {
            return new Payments();
        }
    }

    /** A listener on the queue of the template's stack. */
    static class Payments {

        @ExactlyOnceListener(id = "payments", queueNames = "payments", key = "#order.orderId")
        void pay(Order order) {
            System.out.println("Paying " + order.orderId());
        }
    }

    @DynamicPropertySource
    static void server(DynamicPropertyRegistry properties) {
        properties.add("spring.cloud.aws.endpoint", () -> System.getenv("SQS_SERVER"));
        properties.add("spring.cloud.aws.credentials.access-key", () -> "x");
        properties.add("spring.cloud.aws.credentials.secret-key", () -> "x");
    }

    @Autowired
    private SqsTemplate template;

    @Autowired
    private SqsAsyncClient client;

    @Autowired
    private QueueAudit audit;

    @Test
    void orderThatIsSentTwiceIsChargedOnce(CapturedOutput output) {
        template.send("orders", new Order("A-1"));
        template.send("orders", new Order("A-1"));

        await().atMost(Duration.ofSeconds(30)).until(() -> output.getOut().contains("Charging A-1"));
        await().atMost(Duration.ofSeconds(30)).until(this::messages, left -> left == 0);
        assertThat(output.getOut()).containsOnlyOnce("Charging A-1");
    }

    @Test
    void orderOnTheQueueOfTheTemplateIsHandled(CapturedOutput output) {
        template.send("payments", new Order("B-1"));

        await().atMost(Duration.ofSeconds(30)).until(() -> output.getOut().contains("Paying B-1"));
    }

    @Test
    void auditOfQueuesThatCommandsAndTemplateCreateFindsNothing() {
        await().atMost(Duration.ofSeconds(30)).until(() -> audit.reports().size() == 2);

        assertThat(audit.reports()).flatExtracting(AuditReport::findings).isEmpty();
    }

    private int messages() {
        return client
                .getQueueUrl(request -> request.queueName("orders"))
                .thenCompose(queue -> client.getQueueAttributes(request -> request.queueUrl(queue.queueUrl())
                        .attributeNames(
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE)))
                .join()
                .attributes()
                .values()
                .stream()
                .mapToInt(Integer::parseInt)
                .sum();
    }
}
