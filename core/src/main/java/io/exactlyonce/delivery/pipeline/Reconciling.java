package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.Claim;
import io.exactlyonce.InDoubtAttempt;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.Attempt;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.Delivery;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.Message;
import org.springframework.util.ClassUtils;

/**
 * Calls a listener's reconciler for each delivery whose key is in doubt. If a delivery is stopped during this call, the
 * other deliveries of the batch are still handled.
 */
final class Reconciling {

    private static final Logger log = LoggerFactory.getLogger(Reconciling.class);

    private final HandlerOutcome outcome;
    private final BiFunction<Delivery, @Nullable Object, ClaimResolution> completion;

    /** @param completion makes the request that completes a delivery's claim with the reconciler's result */
    Reconciling(HandlerOutcome outcome, BiFunction<Delivery, @Nullable Object, ClaimResolution> completion) {
        this.outcome = outcome;
        this.completion = completion;
    }

    static boolean isToBeAsked(Delivery delivery) {
        Attempt attempt = delivery.attempt();
        return attempt.spec().doubt().reconciler() != null && attempt.claim().isInDoubt();
    }

    /**
     * Returns whether to call the handler for a delivery. Returns false if the delivery is not admitted, or if the
     * reconciler failed, or has completed or parked the key.
     */
    boolean admits(Admission admission, Delivery delivery) {
        Reconciler<?> reconciler = delivery.attempt().spec().doubt().reconciler();
        return admission.admits(delivery, outcome)
                && (reconciler == null || !isToBeAsked(delivery) || isToBeRun(delivery, reconciler, admission));
    }

    private boolean isToBeRun(Delivery delivery, Reconciler<?> reconciler, Admission admission) {
        if (!admission.beginsHandling(delivery)) {
            return false;
        }
        Attempt attempt = delivery.attempt();
        ClaimKey key = attempt.key();
        ClaimId claim = attempt.id();
        Cancellation call = new Cancellation();
        delivery.beginCall(call);
        Reconciliation<?> answer;
        try (call) {
            answer = reconciler.reconcile(new AttemptInDoubt(delivery));
            Objects.requireNonNull(answer, "The reconciler answered null");
        } catch (Throwable thrown) {
            String reason = "The reconciler failed: " + thrown;
            outcome.add(new IllegalStateException(reason, thrown));
            return resolve(delivery, new ClaimResolution.Released(claim, reason, true), admission);
        }
        log.info(
                "{}, attempt {}: the reconciler answered {}",
                key,
                attempt.claim().attempt(),
                answer.decision());
        return switch (answer.decision()) {
            case DONE -> {
                attempt.resolve(completion.apply(delivery, answer.result()));
                outcome.result(attempt.keepsResult() ? answer.result() : null);
                yield false;
            }
            case RUN_AGAIN -> true;
            case PARK ->
                resolve(delivery, new ClaimResolution.Parked(claim, answer.reason(), call.wasStopped()), admission);
        };
    }

    private static boolean resolve(Delivery delivery, ClaimResolution resolution, Admission admission) {
        delivery.attempt().resolve(resolution);
        admission.stopGroupOf(delivery);
        return false;
    }

    /**
     * Casts the payload to the class that a reconciler requests. For {@code int.class}, the payload may be an {@link
     * Integer}.
     */
    @SuppressWarnings("unchecked") // The payload is an instance of the class.
    static <T> T cast(@Nullable Object payload, Class<T> type, String listener) {
        if (!ClassUtils.resolvePrimitiveIfNecessary(type).isInstance(payload)) {
            throw new IllegalArgumentException(
                    "The payload of listener '%s' is a %s, and the reconciler requests a %s; request the class that the handler takes, or read message()"
                            .formatted(
                                    listener,
                                    payload == null ? null : payload.getClass().getName(),
                                    type.getName()));
        }
        return (T) payload;
    }

    /** A delivery's attempt, for its reconciler. */
    private record AttemptInDoubt(Delivery delivery) implements InDoubtAttempt {

        @Override
        public String listener() {
            return delivery.subscription().listener();
        }

        @Override
        public Claim claim() {
            return delivery.attempt().claim();
        }

        @Override
        public Message<?> message() {
            return delivery.attempt().message();
        }

        @Override
        public <T> T payload(Class<T> type) {
            return cast(message().getPayload(), type, listener());
        }
    }
}
