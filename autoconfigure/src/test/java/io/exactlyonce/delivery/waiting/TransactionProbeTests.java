package io.exactlyonce.delivery.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A transaction manager of the application's fails, while the claim store and another manager work. */
@ExtendWith(OutputCaptureExtension.class)
class TransactionProbeTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final List<ClaimRequest> requests = new ArrayList<>();
    private final Queue<Runnable> probes = new ArrayDeque<>();
    private boolean away;
    private int rolledBack;

    private final ClaimTransaction manager = rig.breakers.guard(DeliveryRig.single(this::execute), "shop");
    private final StoreCircuitBreaker breaker = rig.breakers.of(manager);

    private Acquired execute(ClaimRequest request, ClaimTransaction.Work work) throws Exception {
        requests.add(request);
        if (away) {
            throw new ClaimStoreUnavailableException("no answer", new IllegalStateException("pool used up"));
        }
        Acquired acquired = new Acquired(1, 17, false);
        try {
            work.run(acquired);
        } catch (Throwable failure) {
            rolledBack++;
            throw failure;
        }
        return acquired;
    }

    @BeforeEach
    void subscribe() {
        rig.breakers.subscribe(rig.orders, manager);
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);
    }

    private Delivery waitForManager() throws Throwable {
        boolean before = away;
        away = true;
        Delivery delivery = process(manager);
        away = before;
        return delivery;
    }

    private Delivery process(ClaimTransaction transaction) throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(
                delivery,
                new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN, transaction),
                DeliveryRig::neverCalled);
        rig.deliveries.settle(delivery);
        return delivery;
    }

    private void pass(Duration duration) {
        for (long quarter = duration.toMillis() / 250; quarter > 0; quarter--) {
            rig.clock.advance(Duration.ofMillis(250));
            rig.supervisor.tick();
            rig.watch.tick();
        }
    }

    @Test
    void waiterStaysInvisibleUntilAProbeOfItsOwnManagerIsAnswered() throws Throwable {
        away = true;
        waitForManager();

        pass(DeliveryRig.WINDOW.multipliedBy(2));

        assertThat(breaker.permitsPolling()).isFalse();
        assertThat(rig.returns()).as("renewals only").containsOnly(30);
        away = false;
        pass(Duration.ofSeconds(5));
        assertThat(rig.queue.changes()).last().isEqualTo(new Change("handle", 0));
        assertThat(rig.supervisor.inFlight()).isZero();
        assertThat(breaker.permitsPolling()).isTrue();
    }

    @Test
    void failurePausesTheListenersOfItsManagerOnlyAndIsSaidToBeIts(CapturedOutput output) throws Throwable {
        Subscription parcels = DeliveryRig.subscription("parcels", new ScriptedQueue());
        Subscription stamps = DeliveryRig.subscription("stamps", new ScriptedQueue());
        ClaimTransaction other =
                rig.breakers.guard(DeliveryRig.single((request, work) -> new Acquired(1, 1, false)), "office");
        rig.breakers.subscribe(parcels, null);
        rig.breakers.subscribe(stamps, other);

        for (int failure = 0; failure < StoreCircuitBreaker.FAILURES; failure++) {
            waitForManager();
        }

        assertThat(breaker.permitsPolling()).isFalse();
        assertThat(rig.breaker.permitsPolling()).isTrue();
        assertThat(rig.breakers.of(other).permitsPolling()).isTrue();
        assertThat(output)
                .contains("'orders' is paused: 3 claims in a row got no answer through transaction manager 'shop'")
                .doesNotContain("'parcels' is paused", "'stamps' is paused");
    }

    @Test
    void listenersOfOneManagerShareItsBreaker() {
        ClaimTransaction again = rig.breakers.guard(DeliveryRig.single(this::execute), "shop");

        assertThat(rig.breakers.of(again)).isSameAs(breaker);
    }

    /** No delivery waits any more, for example since the listener has turned its deliveries away. */
    @Test
    void pausedListenerIsResumedAlthoughNoDeliveryWaits() throws Throwable {
        for (int failure = 0; failure < StoreCircuitBreaker.FAILURES; failure++) {
            rig.deliveries
                    .waiters()
                    .all()
                    .forEach(waiter -> rig.deliveries.waiters().end(waiter, KeyState.COMPLETED));
            waitForManager();
        }
        rig.deliveries.waiters().endAll(rig.orders);
        assertThat(breaker.permitsPolling()).isFalse();

        rig.watch.tick();

        assertThat(breaker.permitsPolling()).isTrue();
    }

    @Test
    void probeClaimsAKeyOfItsOwnAndLeavesNothingBehind() throws Throwable {
        waitForManager();
        requests.clear();

        rig.watch.tick();

        assertThat(requests)
                .singleElement()
                .satisfies(probe -> assertThat(probe.key()).isNotEqualTo(DeliveryRig.KEY));
        assertThat(rolledBack).isEqualTo(1);
        assertThat(rig.outcomes).isEmpty();
    }

    /** Its own claim failed, claims of other deliveries did not: made visible at once, it would soon use its receives up. */
    @Test
    void waiterWhoseClaimAloneFailedComesAgainWithBackoff() throws Throwable {
        waitForManager();

        rig.watch.tick();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 4));
    }

    @Test
    void waiterForAnotherHolderIsNotMadeVisibleWhileItsManagerFails() throws Throwable {
        process(DeliveryRig.single((request, work) -> new HeldElsewhere(Duration.ofSeconds(20))));
        for (int failure = 0; failure < StoreCircuitBreaker.FAILURES; failure++) {
            breaker.unanswered(new IllegalStateException("pool used up"));
        }
        away = true;

        pass(Duration.ofSeconds(10));

        assertThat(rig.returns()).isEmpty();
        away = false;
        pass(Duration.ofSeconds(5));
        assertThat(rig.queue.changes()).last().isEqualTo(new Change("handle", 0));
    }

    @Test
    void duplicateIsDeletedAlthoughItsManagerFails() throws Throwable {
        away = true;
        Delivery delivery = waitForManager();
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);

        rig.watch.tick();

        assertThat(rig.deleted).containsExactly(delivery);
    }

    /** A probe waits for a connection for as long as the application's pool allows. */
    @Test
    void slowProbeStallsNoDeliveryAndNoOtherBeginsMeanwhile() throws Throwable {
        rig.probeThreads = probes::add;
        waitForManager();

        pass(Duration.ofSeconds(10));

        assertThat(probes).hasSize(1);
        assertThat(rig.store.looks()).hasSizeGreaterThan(30);
        assertThat(rig.supervisor.inFlight()).isOne();
    }

    /** Its connection has no time limit, and its server was switched off. */
    @Test
    void probeThatIsNeverAnsweredIsFollowedByAnother(CapturedOutput output) throws Throwable {
        rig.probeThreads = probes::add;
        waitForManager();
        pass(Duration.ofSeconds(59));
        assertThat(probes).hasSize(1);

        pass(Duration.ofSeconds(2));

        assertThat(probes).hasSize(2);
        assertThat(output).contains("A probe of transaction manager 'shop' got no answer for PT1M");
        pass(Duration.ofSeconds(118));
        assertThat(probes).as("the second has more time").hasSize(2);
        probes.remove();
        probes.remove().run();
        rig.watch.tick();
        assertThat(rig.supervisor.inFlight()).isZero();
    }

    @Test
    void probeTellsNothingOfAClaimThatFailedAfterItBegan() throws Throwable {
        rig.probeThreads = probes::add;
        waitForManager();
        rig.watch.tick();
        waitForManager();

        probes.remove().run();
        rig.watch.tick();

        assertThat(rig.supervisor.inFlight()).as("one has come again").isOne();
        assertThat(probes).as("the other has a probe of its own").hasSize(1);
    }

    @Test
    void probesComeLessAndLessOftenUpToFourSeconds() throws Throwable {
        away = true;
        waitForManager();
        requests.clear();

        pass(Duration.ofSeconds(60));

        assertThat(requests).hasSizeBetween(15, 20);
    }

    @Test
    void nothingIsAskedOfAManagerThatAnswers() {
        pass(Duration.ofSeconds(10));

        assertThat(requests).isEmpty();
    }
}
