package io.exactlyonce.observe;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** All observations of a delivery belong to one trace: the sender's. */
@UsesSqs
class ObservationsIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

    static class Listener {
        private final ObservationRegistry registry;

        Listener(ObservationRegistry registry) {
            this.registry = registry;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {
            Observation.createNotStarted("charge", registry).observe(() -> {});
        }

        @Bean
        static TestObservationRegistry observationRegistry() {
            TestObservationRegistry registry = TestObservationRegistry.create();
            registry.observationConfig().observationHandler(TRACES);
            return registry;
        }
    }

    /**
     * Follows the rule of tracers: a received message continues the trace in its headers, and any other observation
     * continues the trace of its parent.
     */
    private static final class Traces implements ObservationHandler<Observation.Context> {
        private final Map<String, String> traces = new ConcurrentHashMap<>();

        @Override
        public void onStart(Observation.Context context) {
            String trace = context instanceof ReceiverContext<?> received ? carried(received) : parents(context);
            context.put(Traces.class, String.valueOf(trace));
            traces.put(Objects.requireNonNull(context.getName()), String.valueOf(trace));
        }

        private static <C> @Nullable String carried(ReceiverContext<C> received) {
            String parent = received.getGetter().get(received.getCarrier(), "traceparent");
            return parent == null ? null : parent.split("-")[1];
        }

        private static @Nullable String parents(Observation.Context context) {
            return context.getParentObservation() == null
                    ? null
                    : context.getParentObservation().getContextView().get(Traces.class);
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }

    private static final Traces TRACES = new Traces();

    @Test
    void claimHandlerAndCompletionContinueTheTraceOfTheMessage() {
        String queue = SQS.createQueue(30);
        try (TestApplication application =
                TestApplication.on(queue, Map.of("spring.cloud.aws.sqs.observation-enabled", "true"), Listener.class)) {
            SQS.client()
                    .sendMessage(request -> request.queueUrl(SQS.urlOf(queue))
                            .messageBody("o1")
                            .messageAttributes(Map.of(
                                    "traceparent",
                                    MessageAttributeValue.builder()
                                            .dataType("String")
                                            .stringValue("00-" + TRACE + "-b7ad6b7169203331-01")
                                            .build())));
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
            assertThat(registry)
                    .hasObservationWithNameEqualTo("exactly.once.claim")
                    .that()
                    .hasLowCardinalityKeyValue("exactly.once.outcome", "acquired")
                    .hasBeenStopped();
            assertThat(TRACES.traces)
                    .containsOnlyKeys(
                            "exactly.once.claim",
                            "spring.aws.sqs.listener",
                            "exactly.once.handle",
                            "charge",
                            "exactly.once.complete")
                    .allSatisfy((name, trace) -> assertThat(trace).as(name).isEqualTo(TRACE));
        }
    }
}
