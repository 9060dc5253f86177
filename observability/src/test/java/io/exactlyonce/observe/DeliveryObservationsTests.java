package io.exactlyonce.observe;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver.ClaimScope;
import io.exactlyonce.delivery.DeliveryObserver.HandlerScope;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.HeldClaim;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert.TestObservationRegistryAssertReturningObservationContextAssert;
import io.micrometer.observation.transport.ReceiverContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeliveryObservationsTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "o1");
    private static final ClaimSpec SPEC = new ClaimSpec(KEY, null, InDoubtSettings.RERUN);
    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final DeliveryObservations observations = new DeliveryObservations(registry, true, false);
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
    private final Delivery delivery = new Delivery(orders, orders.settings(), "m1", "r", 1, 0);

    @BeforeEach
    void receive() {
        delivery.attempt().specify(SPEC, "", true);
        delivery.attempt().carries(name -> Map.of("traceparent", TRACE).get(name));
        assertThat(delivery.attempt().begin()).isTrue();
    }

    /** Claims the delivery's key as the pipeline does. */
    private void claim() {
        delivery.attempt().makeRequest(new ClaimSettings("worker", null));
        delivery.attempt()
                .acquiredWithin(new HeldClaim(
                        delivery.attempt().id(), new ClaimOutcome.Acquired(1, 7, false), () -> true, () -> true));
        delivery.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
        delivery.beginHandling();
    }

    /** Handles the delivery within Spring Cloud AWS's observation of its message. */
    private Observation handle() {
        claim();
        Observation message = Observation.start("message", registry);
        HandlerScope handling;
        try (Observation.Scope scope = message.openScope()) {
            assertThat(scope.getCurrentObservation()).isSameAs(message);
            handling = observations.handling(List.of(delivery));
            assertThat(registry).hasRemainingCurrentObservation();
            Observation.createNotStarted("charge", registry).observe(() -> {});
            handling.leave();
        }
        handling.end(null);
        delivery.transition(DeliveryState.HANDLING, DeliveryState.HANDLED);
        return message;
    }

    private TestObservationRegistryAssertReturningObservationContextAssert assertThatObservation(String name) {
        return assertThat(registry).hasObservationWithNameEqualTo(name).that();
    }

    @Test
    void handlerAndCompletionAreObservedWithinTheMessage() {
        Observation message = handle();
        assertThatObservation("exactly.once.complete").hasBeenStarted().isNotStopped();
        delivery.transition(DeliveryState.HANDLED, DeliveryState.RECORDED);
        delivery.endProcessing();
        message.stop();

        assertThatObservation("exactly.once.handle")
                .hasParentObservationEqualTo(message)
                .hasLowCardinalityKeyValue("exactly.once.listener", "fulfilment")
                .hasHighCardinalityKeyValue("exactly.once.key", KEY.toString())
                .hasBeenStopped();
        assertThatObservation("exactly.once.complete")
                .hasParentObservationEqualTo(message)
                .hasLowCardinalityKeyValue("exactly.once.recorded", "true")
                .hasBeenStopped();
        assertThatObservation("charge")
                .hasParentObservationContextMatching(parent -> parent.getName().equals("exactly.once.handle"));
    }

    @Test
    void completionWhoseAnswerNeverComesEndsWithItsListenersStop() {
        handle();

        delivery.transition(DeliveryState.HANDLED, DeliveryState.ABANDONED);
        delivery.ended().complete(null);

        assertThatObservation("exactly.once.complete")
                .hasLowCardinalityKeyValue("exactly.once.recorded", "false")
                .hasBeenStopped();
        delivery.endProcessing();
        assertThat(registry).hasNumberOfObservationsWithNameEqualTo("exactly.once.complete", 1);
    }

    @Test
    void handlerThatFailsCompletesNothing() {
        claim();
        Observation message = Observation.start("message", registry);
        try (Observation.Scope scope = message.openScope()) {
            assertThat(scope.getCurrentObservation()).isSameAs(message);
            HandlerScope handling = observations.handling(List.of(delivery));
            handling.leave();
            handling.end(new IllegalStateException("declined"));
            delivery.endProcessing();
        }

        assertThat(registry)
                .hasNumberOfObservationsEqualTo(2)
                .hasObservationWithNameEqualTo("exactly.once.handle")
                .that()
                .hasError()
                .hasBeenStopped();
    }

    @Test
    @SuppressWarnings("unchecked") // Micrometer hands out its assertions as a raw type.
    void claimBeforeThereAreThreadsContinuesTheSendersTrace() {
        Delivery untraced = new Delivery(orders, orders.settings(), "m2", "r", 1, 0);
        untraced.attempt().specify(SPEC, "", true);
        ClaimScope claiming = observations.claiming(List.of(delivery, untraced));
        assertThatObservation("exactly.once.claim").isNotStopped();
        claiming.end(
                List.of(new ClaimOutcome.Acquired(1, 1, false), new ClaimOutcome.HeldElsewhere(Duration.ofSeconds(1))),
                null);

        assertThat(registry)
                .hasNumberOfObservationsWithNameEqualTo("exactly.once.claim", 2)
                .hasAnObservation(claim -> claim.hasLowCardinalityKeyValue("exactly.once.outcome", "acquired")
                        .hasLowCardinalityKeyValue("exactly.once.queue", "orders")
                        .hasHighCardinalityKeyValue("exactly.once.key", KEY.toString())
                        .doesNotHaveParentObservation()
                        .satisfies(context ->
                                assertThat(carried(context, "traceparent")).isEqualTo(TRACE)))
                .hasAnObservation(claim -> claim.hasLowCardinalityKeyValue("exactly.once.outcome", "held_elsewhere")
                        .satisfies(context ->
                                assertThat(carried(context, "traceparent")).isNull()))
                .hasObservationWithNameEqualTo("exactly.once.claim")
                .that()
                .hasBeenStopped();
    }

    @SuppressWarnings("unchecked")
    private static @Nullable String carried(Object context, String name) {
        ReceiverContext<Object> received = (ReceiverContext<Object>) context;
        return received.getGetter().get(received.getCarrier(), name);
    }

    @Test
    void claimOfAHandlersTransactionLiesWithinTheMessage() {
        Observation message = Observation.start("message", registry);
        try (Observation.Scope scope = message.openScope()) {
            assertThat(scope.getCurrentObservation()).isSameAs(message);
            observations.claiming(List.of(delivery)).end(List.of(new ClaimOutcome.Parked()), null);
        }

        assertThatObservation("exactly.once.claim")
                .hasParentObservationEqualTo(message)
                .hasLowCardinalityKeyValue("exactly.once.outcome", "parked")
                .hasBeenStopped();
    }

    @Test
    void claimWithoutAnAnswerFails() {
        observations
                .claiming(List.of(delivery))
                .end(List.of(), new ClaimStoreUnavailableException("away", new IllegalStateException()));

        assertThatObservation("exactly.once.claim")
                .hasLowCardinalityKeyValue("exactly.once.outcome", "unanswered")
                .hasError()
                .hasBeenStopped();
    }

    @Test
    void nothingIsMadeWhereNothingObserves() {
        DeliveryObservations unobserved = new DeliveryObservations(ObservationRegistry.NOOP, true, false);

        assertThat(unobserved.handling(List.of(delivery))).isSameAs(HandlerScope.NONE);
        assertThat(unobserved.claiming(List.of(delivery))).isSameAs(ClaimScope.NONE);
        assertThat(observations.handling(List.of(delivery))).isSameAs(HandlerScope.NONE);
        assertThat(new DeliveryObservations(registry, false, false).claiming(List.of(delivery)))
                .isSameAs(ClaimScope.NONE);
        assertThat(registry).doesNotHaveAnyObservation();
    }
}
