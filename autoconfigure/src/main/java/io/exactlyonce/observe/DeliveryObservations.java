package io.exactlyonce.observe;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Observes handlers and the recording of their effects, each as a part of what is observed on the handler's thread:
 * awspring's observation of the message, if it is switched on, which continues the sender's trace. Where nothing is,
 * nothing is made: handlers are timed anyhow.
 */
public final class DeliveryObservations implements DeliveryObserver {

    static final String HANDLER = "exactly.once.handle";
    static final String COMPLETION = "exactly.once.complete";

    private final ObservationRegistry registry;
    private final Map<Delivery, Observation> completions = new ConcurrentHashMap<>();

    /** @param registry where observations are made */
    public DeliveryObservations(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public HandlerScope handling(List<HandlerCall> calls) {
        Observation message = registry.getCurrentObservation();
        // Awspring opens the scope of a no-op observation where its own is switched off.
        return message == null || message.isNoop() ? HandlerScope.NONE : new Handling(message, calls);
    }

    @Override
    public void settled(Delivery delivery, DeliveryState state) {
        Observation completion = completions.remove(delivery);
        if (completion != null) {
            completion
                    .lowCardinalityKeyValue("exactly.once.state", state.name())
                    .stop();
        }
    }

    /** A handler at work. */
    private final class Handling implements HandlerScope {

        private final List<HandlerCall> calls;
        private final Observation message;
        private final Observation handler;
        private final Observation.Scope scope;

        Handling(Observation message, List<HandlerCall> calls) {
            this.message = message;
            this.calls = calls;
            this.handler = observation(HANDLER);
            if (calls.size() == 1) {
                HandlerCall call = calls.get(0);
                handler.lowCardinalityKeyValue("exactly.once.attempt", Integer.toString(Math.min(call.attempt(), 9)))
                        .highCardinalityKeyValue(
                                "exactly.once.key", call.claim().key().toString());
            }
            this.scope = handler.start().openScope();
        }

        private Observation observation(String name) {
            Delivery delivery = calls.get(0).delivery();
            return Observation.createNotStarted(name, registry)
                    .parentObservation(message)
                    .lowCardinalityKeyValue(KeyValue.of(
                            "exactly.once.listener", delivery.subscription().listener()))
                    .lowCardinalityKeyValue(KeyValue.of(
                            "exactly.once.queue", delivery.subscription().queue()));
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
                calls.forEach(call ->
                        completions.put(call.delivery(), observation(COMPLETION).start()));
            }
        }
    }
}
