package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.IdentifiableContainerComponent;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactory;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.exactlyonce.delivery.waiting.StoreCircuitBreaker;
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
    private final StoreCircuitBreaker breaker;
    private final OwedPermits owed;
    private String id = getClass().getSimpleName();

    /** @param most how many messages may be handled at once */
    PausingBackPressureHandler(BatchAwareBackPressureHandler original, StoreCircuitBreaker breaker, int most) {
        this.original = original;
        this.breaker = breaker;
        this.owed = new OwedPermits(most);
    }

    /** Returns a factory of the application's own handlers with the breaker before them. */
    public static BackPressureHandlerFactory around(BackPressureHandlerFactory original, StoreCircuitBreaker breaker) {
        return options -> {
            BackPressureHandler handler = original.createBackPressureHandler(options);
            // Awspring accepts no other kind, and says so.
            return handler instanceof BatchAwareBackPressureHandler batches
                    ? new PausingBackPressureHandler(batches, breaker, options.getMaxConcurrentMessages())
                    : handler;
        };
    }

    @Override
    public int requestBatch() throws InterruptedException {
        return breaker.awaitPolling(LOOK_UP) ? unlessPaused(original.requestBatch()) : 0;
    }

    @Override
    public int request(int amount) throws InterruptedException {
        return breaker.awaitPolling(LOOK_UP) ? unlessPaused(original.request(amount)) : 0;
    }

    /**
     * Permits may be long in coming, and the breaker may have opened meanwhile. They count as a poll that fetched nothing:
     * after any other reason, awspring's own limit on throughput would wait for the end of that poll for ever.
     */
    private int unlessPaused(int permits) {
        if (permits == 0 || breaker.permitsPolling()) {
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
