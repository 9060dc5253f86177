package io.exactlyonce.listener;

import io.awspring.cloud.sqs.listener.IdentifiableContainerComponent;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactory;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.exactlyonce.delivery.StoreGate;
import java.time.Duration;

/**
 * Lets a listener poll only while claims can be made on its way. Stopping the container instead would stop its running handlers, too.
 */
final class PausingBackPressure implements BatchAwareBackPressureHandler, IdentifiableContainerComponent {

    /** How late a container that stops while it is paused learns of its stop, at most. */
    private static final Duration LOOK_UP = Duration.ofSeconds(1);

    private final BatchAwareBackPressureHandler original;
    private final StoreGate gate;
    private String id = getClass().getSimpleName();

    PausingBackPressure(BatchAwareBackPressureHandler original, StoreGate gate) {
        this.original = original;
        this.gate = gate;
    }

    /** Returns a factory of the application's own handlers with the gate before them. */
    static BackPressureHandlerFactory around(BackPressureHandlerFactory original, StoreGate gate) {
        return options -> {
            BackPressureHandler handler = original.createBackPressureHandler(options);
            // Awspring accepts no other kind, and says so.
            return handler instanceof BatchAwareBackPressureHandler batches
                    ? new PausingBackPressure(batches, gate)
                    : handler;
        };
    }

    @Override
    public int requestBatch() throws InterruptedException {
        return gate.awaitOpen(LOOK_UP) ? openOrNothing(original.requestBatch()) : 0;
    }

    @Override
    public int request(int amount) throws InterruptedException {
        return gate.awaitOpen(LOOK_UP) ? openOrNothing(original.request(amount)) : 0;
    }

    /**
     * Permits may be long in coming, and the gate may have closed meanwhile. They count as a poll that fetched nothing:
     * after any other reason, awspring's own limit on throughput would wait for the end of that poll for ever.
     */
    private int openOrNothing(int permits) {
        if (permits == 0 || gate.isOpen()) {
            return permits;
        }
        original.release(permits, ReleaseReason.NONE_FETCHED);
        return 0;
    }

    @Override
    public void release(int amount, ReleaseReason reason) {
        original.release(amount, reason);
    }

    @Override
    public boolean drain(Duration timeout) {
        return original.drain(timeout);
    }

    @Override
    public void setId(String id) {
        this.id = id;
        if (original instanceof IdentifiableContainerComponent identifiable) {
            identifiable.setId(id);
        }
    }

    @Override
    public String getId() {
        return id;
    }
}
