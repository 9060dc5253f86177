package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.coalescing.ExecutorClaimStore;
import io.exactlyonce.delivery.waiting.KeyWatcher;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.ScriptedQueue;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The claim store goes away and comes back. */
@ExtendWith(OutputCaptureExtension.class)
class StoreOutageTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final AsyncClaimStore guarded = rig.breaker.guard(rig.asyncStore());

    private void claim() {
        ClaimWriter.await(guarded.claimAsync(List.of()));
    }

    private void failClaim() {
        rig.store.onClaim(() -> {
            throw new IllegalStateException("connection refused");
        });
        assertThatThrownBy(() -> claim()).isInstanceOf(IllegalStateException.class);
    }

    private void failClaims(int times) {
        for (int i = 0; i < times; i++) {
            failClaim();
        }
    }

    private Delivery waitForStore() throws Throwable {
        for (int attempt = 0; attempt < 3; attempt++) {
            rig.store.onClaim(() -> {
                throw new IllegalStateException("connection refused");
            });
        }
        Delivery delivery = rig.receive();
        rig.process(delivery, DeliveryRig::neverCalled);
        rig.deliveries.settle(delivery);
        return delivery;
    }

    @Test
    void listenersPauseAfterThreeFailuresInARowAndSayWhy(CapturedOutput output) {
        rig.breaker.subscribe(rig.orders);
        rig.breaker.subscribe(DeliveryRig.subscription("parcels", new ScriptedQueue()));

        failClaims(2);
        assertThat(rig.breaker.permitsPolling()).isTrue();
        failClaims(2);

        assertThat(rig.breaker.permitsPolling()).isFalse();
        assertThat(rig.paused).containsExactly(false, false, true, true);
        assertThat(output).contains("'orders' is paused", "'parcels' is paused", "connection refused");
    }

    @Test
    void answerInBetweenBeginsTheCountAnew() {
        failClaims(2);
        rig.store.onClaim(() -> new Acquired(1, 1, false));
        claim();
        failClaims(2);

        assertThat(rig.breaker.permitsPolling()).isTrue();
    }

    @Test
    void requestThatIsRefusedForGoodIsAnAnswerAndNoFailure() {
        for (int i = 0; i < 3; i++) {
            rig.store.onClaim(() -> {
                throw new IllegalArgumentException("NUL");
            });
            assertThatThrownBy(() -> claim()).isInstanceOf(IllegalArgumentException.class);
        }

        assertThat(rig.breaker.permitsPolling()).isTrue();
    }

    @Test
    void callsThatDoNotWaitForTheirAnswersCountLikeThoseThatDo() {
        AsyncClaimStore answering = rig.breaker.guard(new ExecutorClaimStore(rig.store, Runnable::run));
        for (int failure = 0; failure < 3; failure++) {
            rig.store.onClaim(() -> {
                throw new IllegalArgumentException("NUL");
            });
            assertThat(answering.claimAsync(List.of())).isCompletedExceptionally();
        }
        assertThat(rig.breaker.permitsPolling()).isTrue();

        for (int failure = 0; failure < 3; failure++) {
            rig.store.onClaim(() -> {
                throw new IllegalStateException("connection refused");
            });
            assertThat(answering.claimAsync(List.of())).isCompletedExceptionally();
        }
        assertThat(rig.breaker.permitsPolling()).isFalse();

        rig.store.onClaim(() -> new Acquired(1, 1, false));
        assertThat(answering.claimAsync(List.of())).isCompleted();
        assertThat(rig.breaker.permitsPolling()).isTrue();
    }

    @Test
    void probeResumesListenersAlthoughNoDeliveryWaits(CapturedOutput output) {
        rig.breaker.subscribe(rig.orders);
        failClaims(3);

        rig.watch.tick();
        rig.watch.tick();

        assertThat(rig.breaker.permitsPolling()).isTrue();
        assertThat(rig.store.looks())
                .hasSize(1)
                .first()
                .satisfies(keys -> assertThat(keys).isEmpty());
        assertThat(rig.paused).containsExactly(false, true, false);
        assertThat(output).contains("'orders' polls again");
    }

    @Test
    void probesComeLessAndLessOftenUpToFourSeconds() {
        failClaims(3);
        rig.store.failLooks(true);

        int seconds = 60;
        for (int quarter = 0; quarter < 4 * seconds; quarter++) {
            rig.watch.tick();
            rig.clock.advance(KeyWatcher.INTERVAL);
        }

        assertThat(rig.store.looks()).hasSizeBetween(seconds / 4, seconds / 4 + 5);
        assertThat(rig.breaker.permitsPolling()).isFalse();
    }

    @Test
    void pollingThreadIsWokenWhenTheStoreIsBack() throws Exception {
        assertThat(rig.breaker.awaitPolling(Duration.ofSeconds(20))).isTrue();
        failClaims(3);
        assertThat(rig.breaker.awaitPolling(Duration.ofMillis(1))).isFalse();

        CompletableFuture<Boolean> polling = CompletableFuture.supplyAsync(() -> {
            try {
                return rig.breaker.awaitPolling(Duration.ofSeconds(20));
            } catch (InterruptedException stopping) {
                throw new IllegalStateException(stopping);
            }
        });
        await().during(Duration.ofMillis(50)).until(() -> !polling.isDone());
        rig.watch.tick();

        assertThat(polling.get(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void listenerThatStartsDuringAnOutageIsPausedAndOneThatStopsIsNot() {
        failClaims(3);

        rig.breaker.subscribe(rig.orders);
        rig.breaker.unsubscribe(rig.orders);
        rig.watch.tick();

        assertThat(rig.paused).containsExactly(true, false);
    }

    @Test
    void deliveryStaysInvisibleDuringTheOutageAndIsVisibleAtOnceAfterIt() throws Throwable {
        waitForStore();
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);

        rig.store.failLooks(true);
        int twoWindows = 60;
        for (int second = 0; second < twoWindows; second++) {
            rig.clock.advance(Duration.ofSeconds(1));
            rig.supervisor.tick();
            rig.watch.tick();
        }
        assertThat(rig.queue.changes()).containsOnly(new Change("handle", 30)).hasSizeBetween(3, 4);
        rig.store.failLooks(false);
        rig.clock.advance(Duration.ofSeconds(4));
        rig.watch.tick();

        assertThat(rig.queue.changes()).last().isEqualTo(new Change("handle", 0));
        assertThat(rig.breaker.permitsPolling()).isTrue();
        assertThat(rig.supervisor.inFlight()).isZero();
    }

    /** The claim's reply was lost, so that it stands: to come again would cost a receive, and find it held. */
    /** The claim that tells that the store is back is one delivery's: the others must not wait for ever. */
    @Test
    void allThatWaitedForTheStoreComeAgainOnceItHasAnsweredOne() throws Throwable {
        ClaimKey otherKey = new ClaimKey("orders", "A-2");
        waitForStore();
        rig.store.failClaims(true);
        Delivery other = rig.receive(rig.orders, "other", 1);
        rig.process(other, new ClaimSpec(otherKey, null, InDoubtPolicy.RERUN), DeliveryRig::neverCalled);
        rig.deliveries.settle(other);
        rig.store.failClaims(false);
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);
        rig.store.putState(otherKey, KeyState.FREE);

        for (int look = 0; look < 10; look++) {
            rig.clock.advance(KeyWatcher.INTERVAL);
            rig.watch.tick();
        }

        assertThat(rig.queue.changes()).extracting(Change::receiptHandle).containsExactlyInAnyOrder("handle", "other");
    }

    @Test
    void deliveryWhoseKeyIsHeldAfterTheOutageWaitsOn() throws Throwable {
        waitForStore();
        rig.store.failLooks(true);
        rig.watch.tick();
        rig.store.failLooks(false);
        rig.clock.advance(Duration.ofSeconds(1));

        rig.watch.tick();

        assertThat(rig.breaker.permitsPolling()).isTrue();
        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.supervisor.inFlight()).isOne();
    }

    @Test
    void deliveryWhoseKeyWasCompletedMeanwhileIsDeleted() throws Throwable {
        Delivery delivery = waitForStore();
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);

        rig.watch.tick();

        assertThat(rig.deleted).containsExactly(delivery);
    }

    /** Only its own claim failed: made visible at once, it would fail again and again, and use its receives up. */
    @Test
    void deliveryWhoseClaimAloneFailedComesAgainWithBackoff() throws Throwable {
        waitForStore();
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);

        rig.watch.tick();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 4));
    }

    @Test
    void stoppingListenersDeliveriesAreReturnedDuringTheOutage() throws Throwable {
        waitForStore();

        rig.deliveries.stop(rig.orders).begin();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 4));
    }

    /** Lets time pass; each quarter of a second in which listeners may poll, a message is claimed. Returns how many were. */
    private int pollFor(Duration duration) {
        int polled = 0;
        for (long quarter = duration.toMillis() / KeyWatcher.INTERVAL.toMillis(); quarter > 0; quarter--) {
            rig.clock.advance(KeyWatcher.INTERVAL);
            rig.supervisor.tick();
            rig.watch.tick();
            if (rig.breaker.permitsPolling()) {
                polled++;
                assertThatThrownBy(() -> claim()).isInstanceOf(IllegalStateException.class);
            }
        }
        return polled;
    }

    /** The disk is full, or a right is missing. */
    @Test
    void claimsThatFailWhileLooksWorkAreTriedLessAndLessOften() {
        failClaims(3);
        rig.store.failClaims(true);

        assertThat(pollFor(Duration.ofSeconds(16))).isEqualTo(5);
        assertThat(pollFor(Duration.ofMinutes(10))).isBetween(15, 25);

        rig.store.failClaims(false);
        int seconds = 0;
        for (; !rig.breaker.permitsPolling(); seconds++) {
            rig.clock.advance(Duration.ofSeconds(1));
            rig.watch.tick();
        }
        assertThat(seconds).isLessThanOrEqualTo(30);
    }

    @Test
    void waitersUseNoReceiveUpWhileClaimsFailAndAreVisibleAtOnceWithTheFirstThatIsAnswered() throws Throwable {
        waitForStore();
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);
        rig.store.failClaims(true);

        assertThat(pollFor(Duration.ofMinutes(10)))
                .as("every other trial polls")
                .isBetween(8, 14);
        assertThat(rig.returns()).as("renewals only").containsOnly(30);
        assertThat(rig.store.claimCalls()).isLessThan(40);
        rig.store.failClaims(false);
        for (int second = 0; second < 60 && rig.supervisor.inFlight() > 0; second++) {
            rig.clock.advance(Duration.ofSeconds(1));
            rig.supervisor.tick();
            rig.watch.tick();
        }

        assertThat(rig.queue.changes()).last().isEqualTo(new Change("handle", 0));
        assertThat(rig.store.releases()).extracting(ClaimEnd.Released::claim).contains(lastClaim());
        assertThat(rig.breaker.permitsPolling()).isTrue();
    }

    /** Trap: of an even number every other one alone was tried, so that a claim that fails by itself could keep all of them waiting. */
    @Test
    void eachOfThoseThatWaitIsTriedUntilAClaimIsAnswered() throws Throwable {
        ClaimKey otherKey = new ClaimKey("orders", "A-2");
        waitForStore();
        rig.store.failClaims(true);
        Delivery other = rig.receive(rig.orders, "other", 1);
        rig.process(other, new ClaimSpec(otherKey, null, InDoubtPolicy.RERUN), DeliveryRig::neverCalled);
        rig.deliveries.settle(other);
        rig.store.failClaims(false);
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);
        rig.store.putState(otherKey, KeyState.FREE);
        AtomicReference<ClaimKey> failing = new AtomicReference<>();
        answerClaims(key -> {
            failing.compareAndSet(null, key);
            if (key.equals(failing.get())) {
                throw new IllegalStateException("could not read block 7");
            }
            return new Acquired(1, 1, false);
        });

        tickFor(Duration.ofMinutes(5));

        assertThat(rig.supervisor.inFlight()).isZero();
        assertThat(rig.breaker.permitsPolling()).isTrue();
    }

    private void answerClaims(Function<ClaimKey, ClaimOutcome> answer) {
        rig.store.onClaim(() -> {
            answerClaims(answer);
            return answer.apply(lastClaim().key());
        });
    }

    private void tickFor(Duration duration) {
        for (long second = 0; second < duration.toSeconds(); second++) {
            rig.clock.advance(Duration.ofSeconds(1));
            rig.supervisor.tick();
            rig.watch.tick();
        }
    }

    private ClaimId lastClaim() {
        List<ClaimRequest> claims = rig.store.claims();
        return claims.get(claims.size() - 1).id();
    }

    @Test
    void listenersThatPollOnTrialArePausedByTheFirstFailureAndFreedByTheFirstAnswer(CapturedOutput output) {
        rig.breaker.subscribe(rig.orders);
        failClaims(3);
        rig.watch.tick();
        failClaims(1);

        assertThat(rig.breaker.permitsPolling()).isFalse();
        assertThat(rig.paused).containsExactly(false, true, false, true);
        assertThat(output).contains("'orders' is paused: the next claim got no answer");
        rig.watch.tick();
        assertThat(rig.breaker.permitsPolling()).as("a second has not passed").isFalse();
        rig.clock.advance(Duration.ofSeconds(1));
        rig.watch.tick();
        rig.store.onClaim(() -> new Acquired(1, 1, false));
        claim();
        failClaims(2);
        assertThat(rig.breaker.permitsPolling()).as("as if nothing had been").isTrue();
    }

    @Test
    void otherCallsPassTheBreaker() {
        failClaims(3);

        assertThat(guarded.endAsync(List.of())).isCompleted();
        assertThat(rig.breaker.permitsPolling()).isFalse();
    }
}
