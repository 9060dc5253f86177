package io.exactlyonce.observe;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.micrometer.observation.tck.TestObservationRegistry;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;

/** What is observed of a delivery lies within awspring's observation of its message, which continues the sender's trace. */
@UsesSqs
class ObservationsIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class Listener {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {}

        @Bean
        static TestObservationRegistry observationRegistry() {
            return TestObservationRegistry.create();
        }
    }

    @Test
    void handlerAndCompletionLieWithinTheMessage() {
        String queue = SQS.createQueue(30);
        try (TestApplication application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(),
                Map.of("test.queue", queue, "spring.cloud.aws.sqs.observation-enabled", "true"),
                Listener.class)) {
            SQS.send(queue, "o1");
            await().until(() -> SQS.size(queue) == 0 && application.claims("COMPLETED") == 1);

            TestObservationRegistry registry = application.bean(TestObservationRegistry.class);
            for (String name : new String[] {"exactly.once.handle", "exactly.once.complete"}) {
                await().untilAsserted(() -> assertThat(registry)
                        .hasObservationWithNameEqualTo(name)
                        .that()
                        .hasParentObservationContextMatching(
                                parent -> parent.getName().equals("spring.aws.sqs.listener"))
                        .hasBeenStopped());
            }
        }
    }
}
