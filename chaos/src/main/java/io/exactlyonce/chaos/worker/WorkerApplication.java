package io.exactlyonce.chaos.worker;

import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import java.net.URI;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Profile;
import org.springframework.messaging.Message;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** A worker in a separate JVM, to be killed, frozen and cut off. */
@SpringBootApplication
@EnableConfigurationProperties(WorkerProperties.class)
public class WorkerApplication {

    private static final Duration ATTEMPT = Duration.ofSeconds(3);

    /** Starts a worker. Its settings are arguments. */
    public static void main(String[] arguments) {
        SpringApplication.run(WorkerApplication.class, arguments);
    }

    /** Makes the application's own client, in the usual way. */
    @Bean
    @Profile("dynamodb")
    DynamoDbClient dynamoDb(
            AwsCredentialsProvider credentials, @Value("${spring.cloud.aws.dynamodb.endpoint}") URI endpoint) {
        return DynamoDbClient.builder()
                .endpointOverride(endpoint)
                .region(Region.EU_WEST_1)
                .credentialsProvider(credentials)
                .overrideConfiguration(settings -> settings.apiCallAttemptTimeout(ATTEMPT))
                .build();
    }

    @Bean
    Reconciler<Receipt> refunds(PaymentPartner partner) {
        return attempt -> {
            Job job = attempt.payload(Job.class);
            return partner.hasActed(job.key())
                    ? Reconciliation.done(new Receipt(job.key(), () -> {}))
                    : Reconciliation.runAgain();
        };
    }

    @Bean
    MessageInterceptor<Object> beforeClaim(Runs runs) {
        return new MessageInterceptor<>() {
            @Override
            public Message<Object> intercept(Message<Object> message) {
                runs.reached(Point.BEFORE_CLAIM);
                return message;
            }
        };
    }
}
