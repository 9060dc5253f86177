package io.exactlyonce.test.contract;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObservers;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.QueueVisibility.Answers;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.QueueVisibility.Result;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.result.ResultSerializer;
import io.exactlyonce.result.StoredResults;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.time.SystemScheduler;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * An application's process. The library's own classes claim, handle, complete, renew and settle its deliveries. The
 * worker's clock can run ahead of other workers' clocks. SQS is simulated, and accepts all requests.
 */
final class Worker {

    private static final QueueVisibility QUEUE = changes -> CompletableFuture.completedFuture(
            new Answers(changes.stream().collect(Collectors.toMap(Change::receiptHandle, change -> Result.CHANGED))));
    private static final Subscription ORDERS =
            new Subscription("contract", "orders", new VisibilityWindow(Claims.LEASE), QUEUE);
    private static final DeliveryObservers NOTHING = new DeliveryObservers(List.of());
    private static final StoredResults RESULTS = new StoredResults(new Texts(), Long.MAX_VALUE);
    private static final RetryBackoff BACKOFF = new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(1), () -> 0);
    private static final RenewalSchedule SOON = new RenewalSchedule(RenewalSchedule.EARLIEST, 0);
    private static final Duration TICK = Duration.ofMillis(100);

    private final Way way;
    private final AtomicLong ahead = new AtomicLong();
    private final Renewer renewer;
    private final Deliveries deliveries;
    private final DeliveryPipeline pipeline;

    Worker(Way way, ClaimStore store) {
        this.way = way;
        renewer = new Renewer(store, SOON, NOTHING::on, Runnable::run, this::now, () -> 0);
        var asked = new io.exactlyonce.delivery.pipeline.RetryingClaimClient(
                store, new Answering(store, this::now), new SystemScheduler());
        OutcomePolicy policy = new OutcomePolicy(new ClaimSettings("worker", Claims.LEASE), BACKOFF);
        deliveries = new Deliveries(renewer, asked, policy, NOTHING, this::now, 1);
        pipeline = new DeliveryPipeline(asked, policy, RESULTS, NOTHING, this::now, Runnable::run);
    }

    /**
     * Calls the store on the calling thread, so that {@link DyingStore.Death} ends everything that the worker does.
     */
    private record Answering(ClaimStore store, NanoClock clock) implements AsyncClaimStore {

        @Override
        public CompletableFuture<Claimed> claimAsync(List<ClaimRequest> requests) {
            long askedAt = clock.nanoTime();
            return answer(() -> new Claimed(store.claim(requests), askedAt));
        }

        @Override
        public CompletableFuture<ClaimAnswers> resolveAsync(
                List<? extends ClaimResolution> resolutions, boolean isAwaited) {
            return answer(() -> store.resolve(resolutions));
        }

        private static <T> CompletableFuture<T> answer(Supplier<T> call) {
            try {
                return CompletableFuture.completedFuture(call.get());
            } catch (RuntimeException failure) {
                return CompletableFuture.failedFuture(failure);
            }
        }
    }

    private long now() {
        return System.nanoTime() + ahead.get();
    }

    Delivery receive() {
        String handle = UUID.randomUUID().toString();
        Delivery delivery = new Delivery(ORDERS, ORDERS.settings(), handle, handle, 1, now());
        deliveries.begin(List.of(delivery));
        return delivery;
    }

    /**
     * Claims the key of a delivery, calls its handler, and completes the claim. Does not throw if the handler throws
     * {@link HandlerFailure}, or if the claim is lost.
     */
    void process(Delivery delivery, ClaimKey key, InDoubtSettings doubt, ClaimedAction action) {
        try {
            way.process(pipeline, delivery, new ClaimSpec(key, null, doubt), action);
        } catch (HandlerFailure | ClaimLostException decided) {
            // The engine has already decided whether the message is redelivered.
        } catch (RuntimeException | Error died) {
            throw died;
        } catch (Throwable checked) {
            throw new IllegalStateException(checked);
        }
        delivery.processed().join();
    }

    /** Settles the delivery. Returns whether the message is deleted. If not, the message is redelivered. */
    boolean settle(Delivery delivery) {
        boolean deleted = deliveries.settle(delivery);
        if (deleted) {
            deliveries.acknowledged(delivery);
        }
        return deleted;
    }

    /** Advances the worker's clock in steps of 100 ms. After each step, the worker renews its claims that are due. */
    void pass(Duration time) {
        for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(TICK)) {
            ahead.addAndGet(TICK.toNanos());
            renewer.tick();
        }
    }

    /** A handler's code. Returns the handler's result. */
    @FunctionalInterface
    interface ClaimedAction {
        Object run(Claim claim) throws Throwable;
    }

    /** Fails a handler that has had no effect. */
    static final class HandlerFailure extends RuntimeException {

        HandlerFailure() {
            super("no effect", null, false, false);
        }
    }

    /** Stores results as plain text, not as JSON. */
    private static final class Texts implements ResultSerializer {

        @Override
        public String toJson(Object result) {
            return String.valueOf(result);
        }

        @Override
        public Object fromJson(String json, Type type) {
            return json;
        }
    }
}
