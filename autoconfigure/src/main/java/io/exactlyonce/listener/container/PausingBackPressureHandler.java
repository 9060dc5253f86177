package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.IdentifiableContainerComponent;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactory;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.exactlyonce.delivery.waiting.StoreGate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Lets a listener poll only while claims can be made on its way. Stopping the container instead would stop its running
 * handlers, too.
 *
 * <p>Messages that gave their permits back while they waited take them back: see {@link OwedPermits}.
 */
public final class PausingBackPressureHandler implements BatchAwareBackPressureHandler, IdentifiableContainerComponent {

    /** How late a container that stops while it is paused learns of its stop, at most. */
    private static final Duration LOOK_UP = Duration.ofSeconds(1);

    private final BatchAwareBackPressureHandler original;
    private final StoreGate gate;
    private final OwedPermits owed;
    private String id = getClass().getSimpleName();

    /** @param most how many messages may be handled at once */
    PausingBackPressureHandler(BatchAwareBackPressureHandler original, StoreGate gate, int most) {
        this.original = original;
        this.gate = gate;
        this.owed = new OwedPermits(most);
    }

    /** Returns a factory of the application's own handlers with the gate before them. */
    public static BackPressureHandlerFactory around(BackPressureHandlerFactory original, StoreGate gate) {
        return options -> {
            BackPressureHandler handler = original.createBackPressureHandler(options);
            // Awspring accepts no other kind, and says so.
            return handler instanceof BatchAwareBackPressureHandler batches
                    ? new PausingBackPressureHandler(batches, gate, options.getMaxConcurrentMessages())
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
        release(permits, ReleaseReason.NONE_FETCHED);
        return 0;
    }

    @Override
    public void release(int amount, ReleaseReason reason) {
        original.release(owed.pay(amount), reason);
    }

    /** Completes when a message may go on that has released its permit meanwhile. */
    CompletableFuture<Void> takeBack() {
        return owed.owe();
    }

    /** The whole of the permits may be there although messages go on that have taken theirs back. */
    @Override
    public boolean drain(Duration timeout) {
        Duration left = owed.awaitPaid(timeout);
        return original.drain(left) && owed.isPaid();
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
