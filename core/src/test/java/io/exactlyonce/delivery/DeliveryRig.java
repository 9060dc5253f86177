package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ExecutorClaimStore;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.ClaimTransaction.Work;
import io.exactlyonce.delivery.pipeline.CircuitBreaker;
import io.exactlyonce.delivery.pipeline.CircuitBreakers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.Handler;
import io.exactlyonce.delivery.pipeline.RetryingClaimClient;
import io.exactlyonce.delivery.pipeline.WaitingDeliveries;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.FakeTimer;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.renewal.RenewalEvent.Target;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.result.StoredResults;
import io.exactlyonce.result.TestResults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An engine on a scripted clock, queue and store. The first backoff is 4 s: the rig's random number is 0 and halves the
 * initial 8 s.
 */
public final class DeliveryRig implements DeliveryEvent.SelectiveObserver {

    /** A handler of single deliveries. The handler returns a result or a future of a result. */
    @FunctionalInterface
    public interface SingleHandler extends Handler {
        Object handle(Claim claim) throws Throwable;

        @Override
        default Object handle(List<Delivery> claimed) throws Throwable {
            assertThat(claimed).hasSize(1);
            return handle(claimed.get(0).attempt().claim());
        }
    }

    /** A handler of batches. */
    @FunctionalInterface
    public interface BatchHandler extends Handler {
        void handleAll(List<Delivery> claimed) throws Throwable;

        @Override
        default Object handle(List<Delivery> claimed) throws Throwable {
            handleAll(claimed);
            return null;
        }
    }

    /**
     * Ends a batch handler as the engine does when the handler returns this result: throws if the result names failed
     * items.
     */
    public static void end(BatchResult result, List<Delivery> claimed) {
        FailedItems failed = FailedItems.in(result, "The handler", claimed.size());
        if (failed != null) {
            throw failed;
        }
    }

    /** A transaction of one claim. */
    @FunctionalInterface
    public interface SingleTransaction extends ClaimTransaction {
        @Override
        ClaimOutcome execute(ClaimRequest request, Work work) throws Exception;

        @Override
        default List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
            assertThat(requests).hasSize(1);
            ClaimRequest request = requests.get(0);
            return List.of(
                    execute(request, acquired -> work.run(List.of(acquired)).get(request.id())));
        }
    }

    /** Converts a lambda into a transaction where the compiler cannot infer the type. */
    public static ClaimTransaction single(SingleTransaction transaction) {
        return transaction;
    }

    public static final ClaimKey KEY = key("A-1");
    public static final Duration WINDOW = Duration.ofSeconds(30);

    public final FakeClock clock = new FakeClock();
    public final FakeTimer timer = new FakeTimer();
    public final ScriptedQueue queue = new ScriptedQueue();
    public final ScriptedStore store = new ScriptedStore();
    public final CircuitBreakers breakers = new CircuitBreakers(clock);
    public final CircuitBreaker breaker = breakers.of(null);
    public final Subscription orders = subscription("orders", queue);
    public final Renewer renewer =
            new Renewer(store, new RenewalSchedule(0.5, 0), this::on, Runnable::run, clock, () -> 0);
    public Executor storeThreads = Runnable::run;

    // The events that observers received.
    public final List<String> asked = new ArrayList<>();
    public final List<Boolean> awaited = new ArrayList<>();
    public final List<ClaimOutcome> outcomes = new ArrayList<>();
    public final List<ClaimKey> parked = new ArrayList<>();
    public final List<Subscription> lost = new ArrayList<>();
    public final List<ClaimKey> claimsLost = new ArrayList<>();
    public final List<Result> renewalsOfLeases = new ArrayList<>();
    public final List<String> handlerScopes = new ArrayList<>();
    public final List<Duration> handled = new CopyOnWriteArrayList<>();
    public final List<Subscription> timedOut = new ArrayList<>();
    public final List<DeliveryState> settled = new ArrayList<>();
    public final List<Delivery> deleted = new ArrayList<>();
    public final List<Duration> delivered = new CopyOnWriteArrayList<>();
    public final List<Subscription> finalReceives = new ArrayList<>();
    public final List<MissingKeyPolicy> keysMissing = new ArrayList<>();
    public final List<DeliveryEvent.LastReceiveFailed> lastReceivesFailed = new ArrayList<>();

    // Actions that a test adds. The name of each field says when the action runs.
    public Runnable whenClaimed = () -> {};
    public Runnable whenHandled = () -> {};
    public Runnable onFinalReceive = () -> {};

    private final RetryBackoff backoff = new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5), () -> 0);
    private final int mostWaiting;
    private StoredResults results = TestResults.writing(result -> "\"" + result + "\"");
    private Duration lease = Duration.ofSeconds(20);
    private MismatchPolicy onMismatch = MismatchPolicy.REFUSE;
    private Map<String, OutcomePolicy> own = Map.of();
    private @Nullable Deliveries made;

    public DeliveryRig() {
        this(1_000);
    }

    public DeliveryRig(int mostWaiting) {
        this.mostWaiting = mostWaiting;
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
        return this;
    }

    /** Sets the outcome policy of one listener. */
    public DeliveryRig own(String listener, OutcomePolicy policy) {
        own = Map.of(listener, policy);
        return this;
    }

    private OutcomePolicy policy() {
        return new OutcomePolicy(new ClaimSettings("worker", lease, null, onMismatch, UUID::randomUUID), backoff, own);
    }

    /** Returns the deliveries. The first call creates them with the current settings. */
    public Deliveries deliveries() {
        if (made == null) {
            made = new Deliveries(renewer, claims(), policy(), this, clock, mostWaiting);
        }
        return made;
    }

    /** Returns the deliveries that wait for the owner of their key. */
    public WaitingDeliveries waiting() {
        return deliveries().waiting();
    }

    /** Returns a client that calls the store on {@link #storeThreads}, and schedules repeats on {@link #timer}. */
    public RetryingClaimClient claims() {
        return new RetryingClaimClient(
                store, new ExecutorClaimStore(store, task -> storeThreads.execute(task), clock, awaited), timer);
    }

    public DeliveryPipeline pipeline() {
        return pipeline(Runnable::run);
    }

    public DeliveryPipeline pipeline(Executor cancellations) {
        return new DeliveryPipeline(claims(), policy(), results, this, clock, cancellations);
    }

    /** Returns a subscription that polls only while the claim store's breaker permits it. */
    public Subscription subscription(String name, QueueVisibility visibility) {
        return subscription(name, visibility, breaker);
    }

    public static Subscription subscription(String name, QueueVisibility visibility, PollGate gate) {
        return new Subscription(
                "listener", name, new QueueSettings(new VisibilityWindow(WINDOW), null), null, visibility, gate);
    }

    /**
     * Returns a subscription to a queue that moves a message to the dead-letter queue after this number of receives.
     */
    public Subscription receiving(int mostReceives) {
        return receiving("orders", mostReceives);
    }

    public Subscription receiving(String name, int mostReceives) {
        return new Subscription(
                "listener",
                name,
                new QueueSettings(orders.settings().window(), mostReceives, "dead-letters"),
                null,
                queue,
                PollGate.OPEN);
    }

    /** Returns a subscription whose handlers have a timeout. */
    public Subscription limited(Duration timeout) {
        return new Subscription(
                "limited",
                "orders",
                new QueueSettings(orders.settings().window(), null),
                timeout,
                queue,
                PollGate.OPEN);
    }

    /** Receives a message for the first time. */
    public Delivery receive() {
        return receive(orders, "handle", 1);
    }

    /** Receives a message on the last receive that its queue allows. */
    public Delivery receiveLast() {
        return receive(receiving(1), "last", 1);
    }

    /** Receives a message of a listener with a timeout. */
    public Delivery receiveLimited(Duration timeout) {
        return receive(limited(timeout), "limited handle", 1);
    }

    public Delivery receive(Subscription subscription, String receiptHandle, int receiveCount) {
        Delivery delivery = new Delivery(
                subscription, subscription.settings(), "id", receiptHandle, receiveCount, clock.nanoTime());
        delivery.deleteBy(() -> deleted.add(delivery));
        deliveries().begin(List.of(delivery));
        return delivery;
    }

    /** Receives a message of a batch, with this key and in this FIFO group. */
    public Delivery receive(String key, String group) {
        return asking(receive(orders, key, 1), group, new ClaimSpec(key(key), null, InDoubtSettings.RERUN));
    }

    /** Receives messages of a standard queue for a batch. */
    public List<Delivery> receiveAll(String... keys) {
        return Stream.of(keys).map(key -> receive(key, "")).toList();
    }

    public static ClaimKey key(String key) {
        return new ClaimKey("orders", key);
    }

    /** Returns a spec that claims {@link #KEY} with these settings for doubts. */
    public static ClaimSpec spec(InDoubtSettings doubt) {
        return new ClaimSpec(KEY, null, doubt);
    }

    /** Sets {@link #KEY} as the key of a single delivery, and returns the delivery. */
    public static Delivery asking(Delivery delivery) {
        return asking(delivery, spec(InDoubtSettings.RERUN));
    }

    /** Sets the claim spec of a single delivery, and returns the delivery. */
    public static Delivery asking(Delivery delivery, ClaimSpec handling) {
        delivery.attempt().specify(handling, "", true);
        return delivery;
    }

    /**
     * Sets the claim spec of a delivery in a batch, and returns the delivery. The spec is {@code null} if the message
     * has no usable key.
     */
    public static Delivery asking(Delivery delivery, String group, @Nullable ClaimSpec handling) {
        delivery.attempt().specify(handling, group, false);
        return delivery;
    }

    public Object process(Delivery delivery, SingleHandler handler) throws Throwable {
        return process(delivery, spec(InDoubtSettings.RERUN), handler);
    }

    public Object process(Delivery delivery, ClaimSpec handling, SingleHandler handler) throws Throwable {
        Object answer = process(pipeline(), List.of(asking(delivery, handling)), handler);
        return answer instanceof CompletableFuture<?> future ? future.join() : answer;
    }

    public void process(List<Delivery> batch, BatchHandler handler) throws Throwable {
        assertThat(process(pipeline(), batch, handler)).isNull();
    }

    /** Claims the keys and calls the handler, as a container's thread does. */
    public static Object process(DeliveryPipeline pipeline, List<Delivery> deliveries, Handler handler)
            throws Throwable {
        if (!deliveries.get(0).attempt().isTransactional()) {
            pipeline.claim(deliveries).join();
        }
        return pipeline.handle(deliveries, handler);
    }

    /** Processes a delivery, and returns the exception that the pipeline throws. */
    public Throwable failureOf(Delivery delivery, SingleHandler handler) {
        return failureOf(delivery, spec(InDoubtSettings.RERUN), handler);
    }

    public Throwable failureOf(Delivery delivery, ClaimSpec handling, SingleHandler handler) {
        return catchThrowable(() -> process(delivery, handling, handler));
    }

    public Throwable failureOf(List<Delivery> batch, BatchHandler handler) {
        return catchThrowable(() -> process(batch, handler));
    }

    /** Processes a delivery whose handler throws this exception. Asserts that the pipeline throws it unchanged. */
    public void fail(Delivery delivery, Throwable failure) {
        assertThat(failureOf(delivery, claim -> {
                    throw failure;
                }))
                .isSameAs(failure);
    }

    /** Settles a delivery, as the end of its pipeline does. Returns whether the message is to be deleted. */
    public boolean settle(Delivery delivery) {
        return deliveries().settle(delivery);
    }

    /** Settles deliveries. Returns the indexes of the messages that are to be deleted. */
    public List<Integer> settle(List<Delivery> batch) {
        return IntStream.range(0, batch.size())
                .filter(index -> settle(batch.get(index)))
                .boxed()
                .toList();
    }

    public void tickFor(Duration duration) {
        for (long millis = 0; millis < duration.toMillis(); millis += 100) {
            clock.advance(Duration.ofMillis(100));
            renewer.tick();
        }
    }

    /** Simulates a takeover by another worker, and lets the next renewal detect the loss. */
    public void loseLease() {
        store.onRenew(requested -> Set.of());
        clock.advance(Duration.ofSeconds(10));
        renewer.tick();
    }

    /** Returns the id of the first claim. */
    public ClaimId claimed() {
        return store.claimed().get(0);
    }

    /** Returns the visibility timeouts that the engine requested from the queue, in seconds. */
    public List<Integer> returns() {
        return queue.changes().stream().map(QueueVisibility.Change::seconds).toList();
    }

    /**
     * Asserts that the message is not deleted, and that the queue received only these changes of visibility, in
     * seconds.
     */
    public void assertReturned(Delivery delivery, Integer... seconds) {
        assertThat(settle(delivery)).isFalse();
        assertThat(returns()).containsExactly(seconds);
    }

    /**
     * Asserts that only the first claim was released, for this reason and not in doubt. The release must also say that
     * the handler threw, unless the reason is that the handler was not called.
     */
    public void assertReleased(String reason) {
        boolean threw = !reason.equals("the handler was not called");
        assertThat(store.releases()).containsExactly(new ClaimResolution.Released(claimed(), reason, false, threw));
    }

    public void assertReleasedInDoubt() {
        assertThat(store.releases()).singleElement().matches(ClaimResolution.Released::inDoubt, "in doubt");
    }

    /** Asserts that only the first claim was completed, with this result as JSON. */
    public void assertCompleted(@Nullable String result) {
        assertThat(store.completions()).containsExactly(new ClaimResolution.Completed(claimed(), result));
    }

    /** Asserts that the handler was not called, the claim is released, and the message is not deleted. */
    public void assertNotCalled(Delivery delivery, Throwable thrown) {
        assertThat(thrown).isInstanceOf(ClaimLostException.class).hasMessageContaining("before the handler was called");
        assertReleased("the handler was not called");
        assertThat(store.completions()).isEmpty();
        assertThat(settle(delivery)).isFalse();
        assertThat(handled).isEmpty();
    }

    @Override
    public ClaimScope claiming(List<Delivery> deliveries) {
        return (answers, failure) ->
                asked.add(failure == null ? answers.toString() : String.valueOf(failure.getMessage()));
    }

    @Override
    public HandlerScope handling(List<Delivery> deliveries) {
        return new HandlerScope() {
            @Override
            public void leave() {
                handlerScopes.add("left");
            }

            @Override
            public void end(@Nullable Throwable failure) {
                handlerScopes.add("ended: " + failure);
            }
        };
    }

    @Override
    public void claimed(DeliveryEvent.Claimed event) {
        outcomes.add(event.outcome());
        whenClaimed.run();
    }

    @Override
    public void parked(DeliveryEvent.Parked event) {
        parked.add(event.key());
    }

    @Override
    public void handled(DeliveryEvent.Handled event) {
        handled.add(event.elapsed());
        whenHandled.run();
    }

    @Override
    public void delivered(DeliveryEvent.Delivered event) {
        delivered.add(event.elapsed());
    }

    @Override
    public void settled(DeliveryEvent.Settled event) {
        settled.add(event.state());
    }

    @Override
    public void completionLost(DeliveryEvent.CompletionLost event) {
        lost.add(event.subscription());
    }

    @Override
    public void lastReceiveFailed(DeliveryEvent.LastReceiveFailed event) {
        lastReceivesFailed.add(event);
    }

    @Override
    public void keyMissing(DeliveryEvent.KeyMissing event) {
        keysMissing.add(event.policy());
    }

    @Override
    public void finalReceive(DeliveryEvent.FinalReceive event) {
        finalReceives.add(event.subscription());
        onFinalReceive.run();
    }

    @Override
    public void timedOut(RenewalEvent.TimedOut event) {
        timedOut.add(event.subscription());
    }

    @Override
    public void claimLost(RenewalEvent.ClaimLost event) {
        claimsLost.add(event.key());
    }

    @Override
    public void renewed(RenewalEvent.Renewed event) {
        if (event.target() == Target.LEASE) {
            renewalsOfLeases.add(event.result());
        }
    }

    /** Throws a checked exception where the compiler does not permit one. */
    @SuppressWarnings("unchecked")
    public static <X extends Throwable> X sneaked(Throwable thrown) throws X {
        throw (X) thrown;
    }

    /** A handler that must not be called. */
    public static Object neverCalled(Claim claim) {
        throw new AssertionError("The handler was called with attempt " + claim.attempt());
    }
}
