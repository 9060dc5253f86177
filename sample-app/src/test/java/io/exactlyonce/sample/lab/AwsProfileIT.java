package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.sample.provider.ProviderStub;
import io.exactlyonce.sample.worker.Order;
import io.exactlyonce.sample.worker.WorkerApplication;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The profile {@code aws} takes endpoint, region and credentials from the AWS SDK's own chains. The test points them
 * to the local server, as {@code AWS_ENDPOINT_URL_SQS} would.
 */
class AwsProfileIT {

    private static final Kind KIND = Kind.EXACTLY_ONCE;

    private final Map<String, String> sdk =
            Map.of("aws.region", "elasticmq", "aws.accessKeyId", "lab", "aws.secretAccessKey", "lab");

    @AfterEach
    void forgetSdkSettings() {
        sdk.keySet().forEach(System::clearProperty);
        System.clearProperty("aws.endpointUrlSqs");
    }

    @Test
    void workerFindsItsEndpointsInItsEnvironment() throws Exception {
        try (Cleanup cleanup = new Cleanup()) {
            Databases databases = cleanup.add(Databases.start(cleanup.add(Workspace.create())));
            Queues queues = cleanup.add(Queues.start(Duration.ofSeconds(2)));
            ProviderStub provider =
                    cleanup.add(ProviderStub.start(0, orderId -> Duration.ZERO, (orderId, worker) -> {}));
            sdk.forEach(System::setProperty);
            System.setProperty("aws.endpointUrlSqs", queues.endpoint().toString());

            queues.send(KIND, List.of(new Order("order-1", 1_999)));
            ConfigurableApplicationContext worker = cleanup.add(start(databases.environment(KIND), provider));

            await().atMost(Duration.ofSeconds(20)).until(() -> queues.size(KIND) == 0);
            assertThat(provider.statement().charges()).containsExactly(Map.entry("order-1", 1L));
            assertThat(provider.shipments().charges()).containsExactly(Map.entry("order-1", 1L));
            assertThat(new FulfilmentTable(databases.database(KIND)).orders()).containsExactly("order-1");
            assertThat(worker.getEnvironment().getProperty("spring.cloud.aws.sqs.endpoint"))
                    .isNull();
        }
    }

    private static ConfigurableApplicationContext start(Map<String, String> database, ProviderStub stub) {
        SpringApplication application = new SpringApplication(WorkerApplication.class);
        application.setAdditionalProfiles(KIND.label(), "aws");
        return application.run(
                "--DATABASE_URL=" + database.get("SPRING_DATASOURCE_URL"),
                "--DATABASE_USERNAME=" + database.get("SPRING_DATASOURCE_USERNAME"),
                "--DATABASE_PASSWORD=" + database.get("SPRING_DATASOURCE_PASSWORD"),
                "--ORDERS_QUEUE=" + KIND.label(),
                "--ORDERS_SHIPMENTS=" + Queues.shipments(KIND),
                "--PROVIDER_URL=" + stub.url(),
                "--PORT=0",
                // A poll in flight delays the shutdown.
                "--spring.cloud.aws.sqs.listener.poll-timeout=1s");
    }
}
