package io.exactlyonce.observe;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver.HandlerCall;
import io.exactlyonce.delivery.DeliveryObserver.HandlerScope;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DeliveryObservationsTests {

    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final DeliveryObservations observations = new DeliveryObservations(registry);
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
    private final Delivery delivery = new Delivery(orders, "m1", "r", 1, 0);
    private final HandlerCall call =
            new HandlerCall(delivery, new ClaimId(new ClaimKey("orders", "o1"), new UUID(1, 2)), 1);

    @Test
    void handlerAndCompletionAreObservedWithinTheMessage() {
        Observation message = Observation.start("message", registry);
        HandlerScope handling;
        try (Observation.Scope scope = message.openScope()) {
            assertThat(scope.getCurrentObservation()).isSameAs(message);
            handling = observations.handling(List.of(call));
            assertThat(registry).hasRemainingCurrentObservation();
            Observation.createNotStarted("charge", registry).observe(() -> {});
            handling.leave();
        }
        handling.end(null);
        observations.settled(delivery, DeliveryState.DELETING);
        message.stop();

        assertThat(registry)
                .hasObservationWithNameEqualTo("exactly.once.handle")
                .that()
                .hasParentObservationEqualTo(message)
                .hasLowCardinalityKeyValue("exactly.once.listener", "fulfilment")
                .hasBeenStopped();
        assertThat(registry)
                .hasObservationWithNameEqualTo("exactly.once.complete")
                .that()
                .hasParentObservationEqualTo(message)
                .hasLowCardinalityKeyValue("exactly.once.state", "DELETING")
                .hasBeenStopped();
        assertThat(registry)
                .hasObservationWithNameEqualTo("charge")
                .that()
                .hasParentObservationContextMatching(parent -> parent.getName().equals("exactly.once.handle"));
    }

    @Test
    void handlerThatFailsCompletesNothing() {
        Observation message = Observation.start("message", registry);
        try (Observation.Scope scope = message.openScope()) {
            assertThat(scope.getCurrentObservation()).isSameAs(message);
            HandlerScope handling = observations.handling(List.of(call));
            handling.leave();
            handling.end(new IllegalStateException("declined"));
            observations.settled(delivery, DeliveryState.RETURNED);
        }

        assertThat(registry)
                .hasNumberOfObservationsEqualTo(2)
                .hasObservationWithNameEqualTo("exactly.once.handle")
                .that()
                .hasError()
                .hasBeenStopped();
    }

    @Test
    void nothingIsMadeWhereNothingObserves() {
        DeliveryObservations unobserved = new DeliveryObservations(ObservationRegistry.NOOP);

        assertThat(unobserved.handling(List.of(call))).isSameAs(HandlerScope.NONE);
        assertThat(observations.handling(List.of(call))).isSameAs(HandlerScope.NONE);
        assertThat(registry).doesNotHaveAnyObservation();
    }
}
