package io.exactlyonce.observe;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Makes observations (spans) of claims, handlers and completions, in the trace of the message.
 * <ul>
 *   <li>The observations of handlers and completions are children of Spring Cloud AWS's observation of the message. If
 *       Spring Cloud AWS's observations are off, handlers and completions are not observed.
 *   <li>Most claims are made before Spring Cloud AWS begins its observation of the message. The observation of such a
 *       claim is a child of the sender's span.
 *   <li>A claim in the handler's transaction is made after Spring Cloud AWS has begun its observation. The observation
 *       of such a claim is a child of that observation.
 * </ul>
 *
 * <p>If the sender sent no trace, the claim and the handler are in two separate traces.
 *
 * @param observesClaims whether claims are observed
 * @param hasOpenTelemetryNames whether observations also have OpenTelemetry's attributes for messaging
 */
public record DeliveryObservations(ObservationRegistry registry, boolean observesClaims, boolean hasOpenTelemetryNames)
        implements DeliveryObserver {

    static final String CLAIM = "exactly.once.claim";
    static final String HANDLER = "exactly.once.handle";
    static final String COMPLETION = "exactly.once.complete";

    private static final int MOST_ATTEMPTS = 9;

    @Override
    public ClaimScope claiming(List<Delivery> deliveries) {
        if (!observesClaims || registry.isNoop()) {
            return ClaimScope.NONE;
        }
        List<Observation> claims =
                deliveries.stream().map(delivery -> claim(delivery).start()).toList();
        return (outcomes, failure) -> {
            for (int index = 0; index < claims.size(); index++) {
                end(claims.get(index), failure == null ? outcomes.get(index) : null, failure);
            }
        };
    }

    private Observation claim(Delivery delivery) {
        Observation claim = current()
                .map(message -> Observation.createNotStarted(CLAIM, registry).parentObservation(message))
                .orElseGet(() -> Observation.createNotStarted(CLAIM, () -> sent(delivery), registry));
        return describe(claim, MessagingConvention.RECEIVE, delivery)
                .highCardinalityKeyValue(
                        "exactly.once.key", delivery.attempt().spec().toString());
    }

    private static ReceiverContext<Delivery> sent(Delivery delivery) {
        ReceiverContext<Delivery> context =
                new ReceiverContext<>((carrier, name) -> carrier.attempt().sent(name));
        context.setCarrier(delivery);
        return context;
    }

    private static void end(Observation claim, @Nullable ClaimOutcome outcome, @Nullable Throwable failure) {
        if (failure != null) {
            claim.error(failure);
        }
        claim.lowCardinalityKeyValue("exactly.once.outcome", outcome == null ? "unanswered" : outcome.tag())
                .stop();
    }

    /**
     * Returns the current observation. If Spring Cloud AWS's observations are switched off, the current one is a no-op,
     * and this method returns empty.
     */
    private Optional<Observation> current() {
        return Optional.ofNullable(registry.getCurrentObservation()).filter(message -> !message.isNoop());
    }

    private Observation describe(Observation observation, String operation, Delivery delivery) {
        return observation
                .lowCardinalityKeyValue(
                        "exactly.once.listener", delivery.subscription().listener())
                .lowCardinalityKeyValue(
                        "exactly.once.queue", delivery.subscription().queue())
                .lowCardinalityKeyValues(
                        hasOpenTelemetryNames ? MessagingConvention.describe(operation, delivery) : KeyValues.empty());
    }

    @Override
    public HandlerScope handling(List<Delivery> deliveries) {
        return current()
                .<HandlerScope>map(message -> new Handling(message, deliveries))
                .orElse(HandlerScope.NONE);
    }

    /** The observation of a running handler. */
    private final class Handling implements HandlerScope {

        private final List<Delivery> deliveries;
        private final Observation message;
        private final Observation handler;
        private final Observation.Scope scope;

        Handling(Observation message, List<Delivery> deliveries) {
            this.message = message;
            this.deliveries = deliveries;
            Delivery first = deliveries.get(0);
            this.handler = within(HANDLER, MessagingConvention.PROCESS, first);
            if (deliveries.size() == 1) {
                int attempt = Math.min(first.attempt().claim().attempt(), MOST_ATTEMPTS);
                handler.lowCardinalityKeyValue("exactly.once.attempt", Integer.toString(attempt))
                        .highCardinalityKeyValue(
                                "exactly.once.key",
                                first.isUnprotected()
                                        ? "none"
                                        : first.attempt().spec().toString());
            }
            this.scope = handler.start().openScope();
        }

        private Observation within(String name, String operation, Delivery delivery) {
            return describe(
                    Observation.createNotStarted(name, registry).parentObservation(message), operation, delivery);
        }

        @Override
        public void leave() {
            scope.close();
        }

        @Override
        public void end(@Nullable Throwable failure) {
            if (failure != null) {
                handler.error(failure);
            }
            handler.stop();
            if (failure == null) {
                deliveries.stream()
                        .filter(delivery -> !delivery.isUnprotected())
                        .forEach(this::complete);
            }
        }

        /**
         * Observes how long the store takes to complete the key. If the delivery ends before the store has answered,
         * for example because its listener stops, the observation ends, too.
         */
        private void complete(Delivery delivery) {
            Observation completion =
                    within(COMPLETION, MessagingConvention.SETTLE, delivery).start();
            Boundary.detach(
                    "Observing a completion",
                    CompletableFuture.anyOf(delivery.processed(), delivery.ended())
                            .thenRun(() -> completion
                                    .lowCardinalityKeyValue(
                                            "exactly.once.recorded", Boolean.toString(delivery.isAcknowledged()))
                                    .stop()));
        }
    }
}
