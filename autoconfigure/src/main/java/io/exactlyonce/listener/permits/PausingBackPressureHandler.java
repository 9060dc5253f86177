package io.exactlyonce.listener.permits;

import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.IdentifiableContainerComponent;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactory;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.exactlyonce.delivery.waiting.StoreCircuitBreaker;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Lets a listener poll only while claims can be made on its way, while outcomes are recorded as fast as handlers end, and while
 * not too many of its polls wait for messages. Stopping the container instead would stop its running
 * handlers, too.
 */
public final class PausingBackPressureHandler implements BatchAwareBackPressureHandler, IdentifiableContainerComponent {

    /** How late a container that stops while it is paused learns of its stop, at most. */
    private static final Duration LOOK_UP = Duration.ofSeconds(1);

    /**
     * A poll that waits for messages keeps a connection to SQS, of which the SDK's client has 50, and renewals and deletes need some. Where
     * hundreds of messages end together, awspring would send a poll for each ten of them at once.
     */
    private static final int MOST_POLLS = 10;

    private final BatchAwareBackPressureHandler original;
    private final StoreCircuitBreaker breaker;
    private final HandlerSlots slots;
    private final NanoClock clock;
    private final UnderWay polls = new UnderWay(MOST_POLLS, polls -> {});
    private volatile @Nullable UnderWay records;
    private String id = getClass().getSimpleName();

    /**
     * @param slots let handlers run
     * @param clock monotonic, in nanoseconds
     */
    PausingBackPressureHandler(
            BatchAwareBackPressureHandler original, StoreCircuitBreaker breaker, HandlerSlots slots, NanoClock clock) {
        this.original = original;
        this.breaker = breaker;
        this.slots = slots;
        this.clock = clock;
    }

    /**
     * Returns a factory of the application's own handlers with the breaker before them.
     *
     * @param claimsAhead whether messages are claimed before there are slots for them, so that some may be received ahead
     */
    public static BackPressureHandlerFactory around(
            BackPressureHandlerFactory original, StoreCircuitBreaker breaker, boolean claimsAhead, NanoClock clock) {
        return options -> {
            BackPressureHandler handler = original.createBackPressureHandler(options);
            // Awspring accepts no other kind, and says so.
            return handler instanceof BatchAwareBackPressureHandler batches
                    ? new PausingBackPressureHandler(
                            batches, breaker, slots(options, claimsAhead && mayLend(original), clock), clock)
                    : handler;
        };
    }

    /** What the application's own limit is told to be released it takes for ended, and may be lower than the listener's number. */
    private static boolean mayLend(BackPressureHandlerFactory original) {
        return original == SqsContainerOptions.builder().build().getBackPressureHandlerFactory();
    }

    private static HandlerSlots slots(ContainerOptions<?, ?> options, boolean mayLend, NanoClock clock) {
        int ahead = mayLend ? options.getMaxMessagesPerPoll() : 0;
        return new HandlerSlots(options.getMaxConcurrentMessages(), ahead, clock);
    }

    @Override
    public int requestBatch() throws InterruptedException {
        return mayPoll() ? unlessPaused(original.requestBatch()) : 0;
    }

    @Override
    public int request(int amount) throws InterruptedException {
        return mayPoll() ? unlessPaused(original.request(amount)) : 0;
    }

    private boolean mayPoll() throws InterruptedException {
        UnderWay pending = records;
        return breaker.awaitPolling(LOOK_UP)
                && (pending == null || pending.awaitRoom(LOOK_UP))
                && polls.awaitRoom(LOOK_UP);
    }

    /**
     * A poll was sent.
     *
     * @param answered completes with its answer, or fails
     */
    public void polling(CompletableFuture<?> answered) {
        polls.add(answered);
    }

    /** Does not let its listener poll, nor end, while too many of these are pending. */
    public void await(UnderWay pending) {
        records = pending;
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
        original.release(amount, reason);
    }

    /** Returns what lets handlers of the polled messages run. */
    public HandlerSlots slots() {
        return slots;
    }

    /** The whole of the permits may be there although messages go on that have lent theirs, or whose outcome is not on record yet. */
    @Override
    public boolean drain(Duration timeout) {
        long begun = clock.nanoTime();
        boolean drained = original.drain(slots.drain(timeout));
        UnderWay pending = records;
        return drained && (pending == null || pending.awaitNone(timeout.minusNanos(clock.nanoTime() - begun)));
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
