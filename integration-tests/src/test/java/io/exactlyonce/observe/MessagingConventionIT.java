package io.exactlyonce.observe;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;

/** OpenTelemetry's messaging names in addition to our own names, if a property enables them. */
@UsesSqs
class MessagingConventionIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class Listener {
        private final AtomicInteger calls = new AtomicInteger();

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {
            if (calls.getAndIncrement() == 0) {
                throw new IllegalStateException("declined");
            }
        }

        @Bean
        static TestObservationRegistry observationRegistry() {
            return TestObservationRegistry.create();
        }
    }

    private static TestApplication start(String queue, Map<String, String> more) {
        Map<String, String> properties =
                new HashMap<>(Map.of("test.queue", queue, "spring.cloud.aws.sqs.observation-enabled", "true"));
        properties.putAll(more);
        return TestApplication.start(EmbeddedDatabase.shared().createDatabase(), properties, Listener.class);
    }

    @Test
    void olderKeysOfSpringCloudAwsAreMappedAndOursHaveTheNewOnesToo() {
        String queue = SQS.createQueue(30);
        try (TestApplication application =
                start(queue, Map.of("exactly-once.observation.opentelemetry-names", "true"))) {
            SQS.send(queue, "o1");
            await().until(() -> SQS.size(queue) == 0 && application.claims("COMPLETED") == 1);

            TestObservationRegistry registry = application.bean(TestObservationRegistry.class);
            for (String error : new String[] {"java.lang.IllegalStateException", "none"}) {
                await().untilAsserted(() -> assertThat(registry)
                        .hasAnObservation(message -> message.hasNameEqualTo("messaging.process.duration")
                                .hasContextualNameEqualTo("process " + queue)
                                .hasLowCardinalityKeyValue("messaging.system", "aws_sqs")
                                .hasLowCardinalityKeyValue("messaging.operation.type", "process")
                                .hasLowCardinalityKeyValue("messaging.operation.name", "process")
                                .hasLowCardinalityKeyValue("messaging.destination.name", queue)
                                .hasLowCardinalityKeyValue("error.type", error)
                                .hasHighCardinalityKeyValueWithKey("messaging.message.id")
                                .doesNotHaveLowCardinalityKeyValueWithKey("messaging.operation")
                                .doesNotHaveLowCardinalityKeyValueWithKey("messaging.source.name")));
            }
            assertThat(registry)
                    .hasAnObservation(handler -> handler.hasNameEqualTo("exactly.once.handle")
                            .hasLowCardinalityKeyValue("messaging.operation.type", "process")
                            .hasLowCardinalityKeyValue("exactly.once.queue", queue));
            await().untilAsserted(() -> assertThat(registry)
                    .hasAnObservation(completion -> completion
                            .hasNameEqualTo("exactly.once.complete")
                            .hasLowCardinalityKeyValue("messaging.operation.type", "settle")
                            .hasLowCardinalityKeyValue("messaging.destination.name", queue)));
            await().untilAsserted(() -> Assertions.assertThat(application
                            .bean(MeterRegistry.class)
                            .get("messaging.process.duration")
                            .tag("messaging.destination.name", queue)
                            .tag("error.type", "none")
                            .timer()
                            .count())
                    .isOne());
        }
    }

    @Test
    void withoutThePropertyNothingHasThem() {
        String queue = SQS.createQueue(30);
        try (TestApplication application = start(queue, Map.of())) {
            SQS.send(queue, "o1");
            await().until(() -> SQS.size(queue) == 0 && application.claims("COMPLETED") == 1);

            TestObservationRegistry registry = application.bean(TestObservationRegistry.class);
            await().untilAsserted(() -> assertThat(registry)
                    .hasAnObservation(completion -> completion.hasNameEqualTo("exactly.once.complete")));
            assertThat(registry)
                    .forAllObservationsWithNameEqualTo(
                            "exactly.once.handle",
                            handler -> handler.doesNotHaveLowCardinalityKeyValueWithKey("messaging.operation.type"))
                    .hasAnObservation(message -> message.hasNameEqualTo("spring.aws.sqs.listener"));
        }
    }
}
