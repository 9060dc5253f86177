package io.exactlyonce.test.kit;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.Delivery;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/**
 * Drives the application's own {@link io.exactlyonce.ExactlyOnceListener} methods. The driver delivers messages to them
 * through the real containers, pipeline and aspect. The driver simulates crashes, lost claims and store failures, and
 * returns the state of each delivery. A bean of tests with {@link ExactlyOnceTest} or
 * {@link AutoConfigureExactlyOnceDriver}.
 *
 * <p>Time passes only in {@link #advance} and in methods whose documentation mentions it. Queues deliver only the
 * messages that the test requests. Before each test method all messages and claims are removed.
 *
 * <p>Tests can also call the driver from code that a handler calls, such as a mock's answer. A method fails after ten
 * seconds of real time.
 */
public final class ExactlyOnceDriver {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration TICK = Duration.ofMillis(100);

    /**
     * After this time, the engine has called the store again. A claim without an answer is repeated within three
     * seconds, and a paused listener polls on trial within thirty.
     */
    private static final Duration UNTIL_STORE_IS_ASKED = Duration.ofSeconds(31);

    private final TestClock clock;
    private final TestQueues queues;
    private final TestStore store;
    private final Journal journal;
    private final JsonMapper json;

    ExactlyOnceDriver(TestClock clock, TestQueues queues, TestStore store, Journal journal, JsonMapper json) {
        this.clock = clock;
        this.queues = queues;
        this.store = store;
        this.journal = journal;
        this.json = json;
    }

    /** Delivers a message, and waits until nothing more happens to it: see {@link Outcome}. */
    public Delivered deliver(TestMessage message) {
        return awaitEnd(handOut(List.of(first(message)))).get(0);
    }

    /**
     * Delivers a message with a payload, as {@link #deliver} does.
     *
     * @param payload the payload, which the application's {@code JsonMapper} writes as JSON
     * @throws IllegalArgumentException if the payload is a text; {@link #deliverBody} delivers texts unchanged
     */
    public Delivered deliverPayload(Object payload) {
        return deliver(TestMessage.ofPayload(payload));
    }

    /**
     * Delivers a message with a body, as {@link #deliver} does.
     *
     * @param body the text that SQS delivers
     */
    public Delivered deliverBody(String body) {
        return deliver(TestMessage.ofBody(body));
    }

    /**
     * Delivers messages with one poll, for example to a batch listener, and waits until nothing more happens to them.
     */
    public List<Delivered> deliverTogether(TestMessage... messages) {
        return awaitEnd(handOut(Stream.of(messages).map(this::first).toList()));
    }

    /**
     * Delivers a message, and waits only until its handler is called or skipped. Use this method for handlers that wait
     * for the test. To wait for a later point in the handler, use for example Mockito's
     * {@code verify(mock, timeout(1_000))}.
     */
    public Delivered begin(TestMessage message) {
        Delivered delivered = handOut(List.of(first(message))).get(0);
        await(delivered, "to begin", () -> delivered.isRunning() || journal.isAtRest(delivered, store.isAway()));
        return delivered;
    }

    /** Waits until nothing more happens to a delivery. */
    public Delivered awaitEnd(Delivered delivered) {
        await(delivered, "to end", () -> journal.isAtRest(delivered, store.isAway()));
        return delivered;
    }

    private List<Delivered> awaitEnd(List<Delivered> all) {
        all.forEach(this::awaitEnd);
        return all;
    }

    /**
     * Delivers the same message again, with the same ID and a higher receive count, and waits until its state is
     * stable. If its worker crashed, the visibility timeout and the lease expire first; otherwise no time passes.
     */
    public Delivered redeliver(Delivered earlier) {
        if (earlier.isCrashed()) {
            advance(earlier.letter().hiddenAt(clock.nanoTime()));
            earlier.claim().map(store::leaseLeft).ifPresent(this::advance);
        }
        return awaitEnd(handOut(List.of(new Delivered(earlier.letter(), false))))
                .get(0);
    }

    /** Delivers a new message with the same content, as after a resend, and waits until its state is stable. */
    public Delivered duplicate(Delivered earlier) {
        Letter letter = earlier.letter();
        Letter copy = new Letter(letter.message().withoutFaults(), letter.queue(), letter.body());
        return awaitEnd(handOut(List.of(new Delivered(copy, false)))).get(0);
    }

    /**
     * Ends the lease of a delivery's claim, as after a long pause that its worker does not notice. The key can then be
     * taken over.
     */
    public void endLease(Delivered delivered) {
        store.endLease(claim(delivered));
    }

    /** Ends the lease of the calling handler's claim. Call this on the handler's own thread. */
    public void endLease() {
        current().forEach(this::endLease);
    }

    /**
     * Lets another worker take over the key of a delivery whose handler runs. The engine detects this at the next
     * renewal, and time passes until then. The handler's thread is interrupted, or its future cancelled, and
     * {@link io.exactlyonce.Claim#ensureHeld()} throws.
     */
    public OtherWorker loseClaim(Delivered delivered) {
        ClaimId lost = claim(delivered);
        Duration longest = store.leaseLeft(lost).plus(TICK);
        store.endLease(lost);
        OtherWorker other = holdElsewhere(lost.key().scope(), lost.key().key());
        Delivery delivery = delivered.delivery().orElseThrow();
        for (Duration passed = Duration.ZERO;
                delivery.visibility().isHeld() && passed.compareTo(longest) < 0;
                passed = passed.plus(TICK)) {
            advance(TICK);
        }
        return other;
    }

    /** Lets another worker take over the calling handler's key. Call this on the handler's own thread. */
    public OtherWorker loseClaim() {
        return current().stream().map(this::loseClaim).toList().get(0);
    }

    /**
     * Lets another worker hold a key.
     *
     * @param scope the key's scope: the listener's scope, or the name of its queue
     * @throws IllegalStateException if the key is not free
     */
    public OtherWorker holdElsewhere(String scope, String key) {
        ClaimRequest request =
                new ClaimRequest(new ClaimKey(scope, key), UUID.randomUUID(), "another worker", OtherWorker.LEASE);
        if (!(store.claims().claim(List.of(request)).get(0) instanceof Acquired)) {
            throw new IllegalStateException(
                    "Another worker cannot claim key '%s' of scope '%s': it is held or completed"
                            .formatted(key, scope));
        }
        return new OtherWorker(this, store, request.id());
    }

    /**
     * Crashes the worker of the calling handler in the middle of the handler. Call this on the handler's own thread.
     *
     * @return nothing, because the method always throws; the return type lets a mock's answer be this call alone, and
     *     lets a handler throw it
     */
    public SimulatedCrash crash() {
        List<Delivered> called = current();
        called.get(0).crash();
        throw new SimulatedCrash(called.get(0));
    }

    /** Makes the store unavailable from now on. After three claims without an answer, listeners pause. */
    public void failStore() {
        store.setAway(true);
    }

    /** Makes the store available again. Time passes until the engine detects it. */
    public void restoreStore() {
        store.setAway(false);
        advance(UNTIL_STORE_IS_ASKED);
    }

    /** Advances time: visibility timeouts and leases are renewed or expire, and handlers time out. */
    public void advance(Duration time) {
        clock.advance(time);
    }

    /** Returns all deliveries of the test so far. */
    Collection<Delivered> deliveries() {
        return journal.all();
    }

    /** Removes all messages and claims, and makes the store available. Running handlers are stopped. */
    void reset() {
        Collection<Delivered> known = journal.all();
        known.forEach(Delivered::crash);
        known.forEach(delivered -> delivered.delivery().ifPresent(Delivery::stopHandler));
        known.forEach(delivered -> await(delivered, "to stop", () -> !delivered.isRunning()));
        if (store.isAway()) {
            restoreStore();
        }
        journal.forgetAll();
        store.forgetAll();
    }

    private Delivered first(TestMessage message) {
        Object content = message.content();
        String body = content instanceof String text ? text : json.writeValueAsString(content);
        return new Delivered(new Letter(message, queue(message), body), true);
    }

    private String queue(TestMessage message) {
        Set<String> read = journal.queues();
        String queue = message.queue()
                .orElseGet(() -> read.size() == 1 ? read.iterator().next() : "");
        if (!read.contains(queue)) {
            throw new IllegalArgumentException(
                    read.isEmpty()
                            ? "No listener has started; have the test's context contain the class with the @ExactlyOnceListener"
                            : "The message is for %s, and listeners read %s; choose one with TestMessage.to(queue)"
                                    .formatted(queue.isEmpty() ? "no queue" : "queue '" + queue + "'", read));
        }
        return queue;
    }

    private List<Delivered> handOut(List<Delivered> messages) {
        String queue = messages.get(0).letter().queue();
        journal.expect(messages);
        if (!queues.handOut(queue, messages, PATIENCE)) {
            throw new IllegalStateException("No listener has polled queue '%s' for %d messages: %s"
                    .formatted(
                            queue,
                            messages.size(),
                            store.isAway()
                                    ? "the store is unavailable, so listeners are paused; call restoreStore()"
                                    : "its handlers are all busy, or a poll of it takes fewer"));
        }
        return messages;
    }

    private void await(Delivered delivered, String end, BooleanSupplier condition) {
        if (!journal.await(condition, PATIENCE, clock::endPause)) {
            throw new AssertionError("Timed out after %s, waiting %s: %s".formatted(PATIENCE, end, delivered));
        }
    }

    private static ClaimId claim(Delivered delivered) {
        return delivered
                .claim()
                .orElseThrow(() -> new IllegalStateException("It has no claim that could be lost: " + delivered));
    }

    private List<Delivered> current() {
        List<Delivered> called = journal.current();
        if (called.isEmpty()) {
            throw new IllegalStateException(
                    "No handler runs on thread '%s'; name the delivery, as Delivered of begin(...)"
                            .formatted(Thread.currentThread().getName()));
        }
        return called;
    }
}
