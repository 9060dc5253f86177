package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.coalescing.ExecutorClaimStore;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.Handler;
import io.exactlyonce.delivery.waiting.KeyWatcher;
import io.exactlyonce.delivery.waiting.StoreCircuitBreaker;
import io.exactlyonce.delivery.waiting.StoreCircuitBreakers;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.FakeTimer;
import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** An engine on a clock, a queue and a store that do as they are told. Backoff starts at 8 s; chance gives its half. */
public final class DeliveryRig implements DeliveryObserver {

    /** A handler of single deliveries: returns its result, or a future of that. */
    @FunctionalInterface
    public interface SingleHandler extends Handler {
        Object handle(Claim claim) throws Throwable;

        @Override
        default CompletionStage<?> handle(List<Attempt> claimed) throws Throwable {
            assertThat(claimed).hasSize(1);
            Object returned = handle(claimed.get(0).claim());
            return returned instanceof CompletionStage<?> stage ? stage : CompletableFuture.completedFuture(returned);
        }
    }

    /** A handler of batches. */
    @FunctionalInterface
    public interface BatchHandler extends Handler {
        void handleAll(List<Attempt> claimed) throws Throwable;

        @Override
        default CompletionStage<?> handle(List<Attempt> claimed) throws Throwable {
            handleAll(claimed);
            return CompletableFuture.completedFuture(null);
        }
    }

    /** A transaction of one claim. */
    @FunctionalInterface
    public interface SingleTransaction extends ClaimTransaction {
        @Override
        ClaimOutcome execute(ClaimRequest request, Work work) throws Throwable;

        @Override
        default List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Throwable {
            assertThat(requests).hasSize(1);
            ClaimRequest request = requests.get(0);
            return List.of(
                    execute(request, acquired -> work.run(List.of(acquired)).get(request.id())));
        }
    }

    /** Returns a transaction, where another type of it is asked for. */
    public static ClaimTransaction single(SingleTransaction transaction) {
        return transaction;
    }

    public static final ClaimKey KEY = new ClaimKey("orders", "A-1");
    public static final Duration WINDOW = Duration.ofSeconds(30);

    public final FakeClock clock = new FakeClock();
    public final ScriptedQueue queue = new ScriptedQueue();
    public final ScriptedStore store = new ScriptedStore();
    public final Subscription orders = subscription("orders", queue);
    public final List<String> asked = new ArrayList<>();
    public final List<ClaimKey> parked = new ArrayList<>();
    public final List<ClaimOutcome> outcomes = new ArrayList<>();
    public final List<Duration> handled = new CopyOnWriteArrayList<>();
    public final List<Duration> delivered = new CopyOnWriteArrayList<>();
    public final List<Subscription> timedOut = new ArrayList<>();
    public Runnable whenClaimed = () -> {};
    public Runnable whenHandled = () -> {};
    public final RenewalSupervisor supervisor =
            new RenewalSupervisor(store, new RenewalSchedule(0.5, 0, 3), this, Runnable::run, clock, () -> 0);

    private final RetryBackoff backoff = new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5));
    public final Deliveries deliveries;
    public final StoreCircuitBreakers breakers = new StoreCircuitBreakers(this);
    public final StoreCircuitBreaker breaker = breakers.claims();
    public Executor probeThreads = Runnable::run;
    public Executor storeThreads = Runnable::run;
    public final FakeTimer timer = new FakeTimer();
    public KeyWatcher watch;
    public final List<Subscription> lost = new ArrayList<>();
    public final List<DeliveryState> settled = new ArrayList<>();
    public final List<Integer> waiting = new ArrayList<>();
    public final List<Subscription> runOut = new ArrayList<>();
    public Runnable whenReceivesRunOut = () -> {};
    final List<Boolean> paused = new ArrayList<>();
    public final List<Delivery> deleted = new ArrayList<>();

    private StoredResults results = TestResults.writing(result -> "\"" + result + "\"");
    private Duration lease = Duration.ofSeconds(20);
    private MismatchPolicy onMismatch = MismatchPolicy.REFUSE;

    public DeliveryRig() {
        this(1_000);
    }

    public DeliveryRig(int mostWaiters) {
        deliveries = new Deliveries(supervisor, this, backoff, clock, () -> 0, mostWaiters);
        watch = watch();
    }

    public static Subscription subscription(String name, QueueVisibility visibility) {
        return new Subscription("listener", name, new VisibilityWindow(WINDOW), visibility);
    }

    public DeliveryRig writing(Function<Object, String> writer) {
        results = TestResults.writing(writer);
        return this;
    }

    public DeliveryRig withoutLeaseOfItsOwn() {
        lease = null;
        return this;
    }

    public DeliveryRig onMismatch(MismatchPolicy policy) {
        onMismatch = policy;
        watch = watch();
        return this;
    }

    private KeyWatcher watch() {
        return new KeyWatcher(
                writer(), deliveries.waiters(), breakers, terms(), probe -> probeThreads.execute(probe), clock);
    }

    private ClaimSettings terms() {
        return new ClaimSettings("worker", lease, onMismatch, UUID::randomUUID);
    }

    /** Writes claims on the thread that asks. What is repeated is due when {@link #timer} says so. */
    public ClaimWriter writer() {
        return new ClaimWriter(store, asyncStore(), timer);
    }

    private ClaimWriter guardedWriter() {
        return new ClaimWriter(store, breakers.claims().guard(asyncStore()), timer);
    }

    public AsyncClaimStore asyncStore() {
        return new ExecutorClaimStore(store, task -> storeThreads.execute(task));
    }

    public DeliveryPipeline pipeline() {
        return pipeline(Runnable::run);
    }

    public DeliveryPipeline pipeline(Executor cancellations) {
        return new DeliveryPipeline(guardedWriter(), terms(), backoff, results, this, clock, () -> 0, cancellations);
    }

    /** Receives a message of a listener with a timeout. */
    public Delivery receiveLimited(Duration timeout) {
        return receive(
                new Subscription("limited", "orders", new VisibilityWindow(WINDOW), timeout, queue, null),
                "limited handle",
                1);
    }

    /** Receives a message for the first time. */
    public Delivery receive() {
        return receive(orders, "handle", 1);
    }

    public Delivery receive(Subscription subscription, String receiptHandle, int receiveCount) {
        Delivery delivery = new Delivery(subscription, "id", receiptHandle, receiveCount, clock.nanoTime());
        delivery.deleteBy(() -> deleted.add(delivery));
        deliveries.begin(List.of(delivery));
        return delivery;
    }

    public Object process(Delivery delivery, SingleHandler handler) throws Throwable {
        return process(delivery, new ClaimSpec(KEY, null, InDoubtPolicy.RERUN), handler);
    }

    public Object process(Delivery delivery, ClaimSpec handling, SingleHandler handler) throws Throwable {
        return process(pipeline(), List.of(Attempt.single(delivery, handling)), handler)
                .join();
    }

    public void process(List<Attempt> batch, BatchHandler handler) throws Throwable {
        assertThat(process(pipeline(), batch, handler)).isCompletedWithValue(null);
    }

    /** Claims as a container's thread does, and calls the method. */
    public static CompletableFuture<Object> process(DeliveryPipeline pipeline, List<Attempt> attempts, Handler handler)
            throws Throwable {
        if (!attempts.get(0).isTransactional()) {
            ClaimWriter.await(pipeline.claim(attempts));
        }
        return pipeline.process(attempts, handler);
    }

    public void tickFor(Duration duration) {
        for (long millis = 0; millis < duration.toMillis(); millis += 100) {
            clock.advance(Duration.ofMillis(100));
            supervisor.tick();
        }
    }

    /** Has another worker take the key over, and the next renewal notice it. */
    public void loseLease() {
        store.onRenew(requested -> Set.of());
        clock.advance(Duration.ofSeconds(10));
        supervisor.tick();
    }

    /** Returns the seconds after which a delivery was made visible. */
    public List<Integer> returns() {
        return queue.changes().stream().map(QueueVisibility.Change::seconds).toList();
    }

    @Override
    public ClaimScope claiming(List<ClaimCall> calls) {
        return (answers, failure) ->
                asked.add(failure == null ? answers.toString() : String.valueOf(failure.getMessage()));
    }

    @Override
    public void claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) {
        outcomes.add(outcome);
        whenClaimed.run();
    }

    @Override
    public void parked(Subscription subscription, ClaimKey key) {
        parked.add(key);
    }

    @Override
    public void handled(Subscription subscription, Duration elapsed) {
        handled.add(elapsed);
        whenHandled.run();
    }

    @Override
    public void delivered(Subscription subscription, Duration elapsed) {
        delivered.add(elapsed);
    }

    @Override
    public void settled(Delivery delivery, DeliveryState state) {
        settled.add(state);
    }

    @Override
    public void timedOut(Subscription subscription) {
        timedOut.add(subscription);
    }

    @Override
    public void completionLost(Subscription subscription) {
        lost.add(subscription);
    }

    @Override
    public void waiting(Subscription subscription, int waiters) {
        waiting.add(waiters);
    }

    @Override
    public void receivesRunOut(Subscription subscription) {
        runOut.add(subscription);
        whenReceivesRunOut.run();
    }

    @Override
    public void pollingPaused(Subscription subscription, String way, boolean isPaused) {
        paused.add(isPaused);
    }

    /** A handler that must not be called. */
    public static Object neverCalled(Claim claim) {
        throw new AssertionError("The handler was called with attempt " + claim.attempt());
    }
}
