package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.visibility.PollGate;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(OutputCaptureExtension.class)
class DeliveryPipelineTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();

    @Test
    void acquiredKeyIsHandledCompletedAndAcknowledged() throws Throwable {
        Object result = rig.process(delivery, claim -> "charged");

        assertThat(result).isEqualTo("charged");
        ClaimRequest request = rig.store.claims().get(0);
        assertThat(request.key()).isEqualTo(DeliveryRig.KEY);
        assertThat(request.owner()).isEqualTo("worker");
        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(request.id(), "\"charged\""));
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.deliveries().settle(delivery)).isTrue();
        assertThat(rig.returns()).isEmpty();
        assertThat(rig.outcomes).containsExactly(new Acquired(1, 1, false));
        assertThat(rig.handlerScopes).containsExactly("left", "ended: null");
    }

    @Test
    void handlerSeesItsClaim() throws Throwable {
        rig.store.onClaim(() -> new Acquired(3, 17, true));

        rig.process(delivery, claim -> {
            assertThat(claim.key()).isEqualTo("A-1");
            assertThat(claim.attempt()).isEqualTo(3);
            assertThat(claim.fencingToken()).isEqualTo(17);
            assertThat(claim.isAmbiguous()).isTrue();
            assertThat(claim.downstreamKey()).matches("[0-9a-f]{64}").isEqualTo(DeliveryRig.KEY.hash());
            claim.ensureHeld();
            return null;
        });

        assertThat(rig.handled).hasSize(1);
    }

    @Test
    void claimIsNoLongerHeldAfterItsHandler() throws Throwable {
        AtomicReference<Claim> kept = new AtomicReference<>();
        rig.process(delivery, claim -> {
            kept.set(claim);
            return null;
        });

        assertThatThrownBy(() -> kept.get().ensureHeld()).isInstanceOfSatisfying(ClaimLostException.class, lost -> {
            assertThat(lost.scope()).isEqualTo("orders");
            assertThat(lost.fencingToken()).isEqualTo(1);
            assertThat(lost).hasMessageNotContaining("A-1");
        });
    }

    @Test
    void claimIsNotHeldWhenTheLeaseIsOverByTheClock() throws Throwable {
        rig.process(delivery, claim -> {
            rig.clock.advance(Duration.ofSeconds(20));
            assertThatThrownBy(claim::ensureHeld).isInstanceOf(ClaimLostException.class);
            return null;
        });

        assertThat(rig.store.completions()).hasSize(1);
    }

    @Test
    void leaseIsAsLongAsTheWindowUnlessItIsSet() throws Throwable {
        rig.process(delivery, claim -> null);
        rig.withoutLeaseOfItsOwn().process(rig.receive(), claim -> null);

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::lease)
                .containsExactly(Duration.ofSeconds(20), DeliveryRig.WINDOW);
    }

    @Test
    void unansweredClaimIsRepeatedAndItsLeaseCountsFromTheAttemptThatWasAnswered() throws Throwable {
        rig.store.onClaim(() -> {
            rig.clock.advance(Duration.ofSeconds(8));
            throw new IllegalStateException("connection reset");
        });

        rig.process(delivery, claim -> {
            rig.clock.advance(Duration.ofMillis(19_999));
            claim.ensureHeld();
            rig.clock.advance(Duration.ofMillis(1));
            assertThatThrownBy(claim::ensureHeld).isInstanceOf(ClaimLostException.class);
            return null;
        });

        assertThat(rig.store.claims()).hasSize(2);
        assertThat(rig.store.claims().get(1)).isEqualTo(rig.store.claims().get(0));
        assertThat(rig.handled).hasSize(1);
    }

    /** To come again would be its end, untried. */
    @Test
    void claimOnTheLastReceiveIsRepeatedUntilItIsAnswered() throws Throwable {
        Delivery last = rig.receive(lastReceive(), "last", 1);
        loseClaims(5);

        Object result = rig.process(last, claim -> "shipped");

        assertThat(result).isEqualTo("shipped");
        assertThat(rig.store.claims())
                .hasSize(6)
                .containsOnly(rig.store.claims().get(0));
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.deliveries().settle(last)).isTrue();
    }

    @Test
    void claimOnTheLastReceiveIsNotRepeatedAnyMoreWhenItsListenerStops() throws Throwable {
        Delivery last = rig.receive(lastReceive(), "last", 1);
        rig.store.onClaim(() -> {
            last.abandon();
            throw new IllegalStateException("connection refused");
        });

        rig.process(last, DeliveryRig::neverCalled);

        assertThat(rig.store.claims()).hasSize(1);
    }

    private Subscription lastReceive() {
        return new Subscription("listener", "orders", rig.orders.window(), null, rig.queue, 1, PollGate.OPEN);
    }

    private void loseClaims(int times) {
        for (int attempt = 0; attempt < times; attempt++) {
            rig.store.onClaim(() -> {
                throw new IllegalStateException("connection refused");
            });
        }
    }

    @Test
    void claimThatTheStoreRefusesForGoodFailsTheDelivery() throws Throwable {
        rig.store.onClaim(() -> {
            throw new IllegalArgumentException("no such scope");
        });

        rig.process(delivery, DeliveryRig::neverCalled);

        rig.deliveries().settle(delivery);
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void duplicateIsAcknowledgedWithoutItsHandler() throws Throwable {
        rig.store.onClaim(() -> new AlreadyCompleted("\"charged\""));

        assertThat(rig.process(delivery, DeliveryRig::neverCalled)).isNull();

        assertThat(delivery.left()).isDone();
        assertThat(rig.deliveries().settle(delivery)).isTrue();
        assertThat(rig.returns()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.outcomes).containsExactly(new AlreadyCompleted("\"charged\""));
    }

    @Test
    void keyHeldElsewhereEndsThePipelineAndItsDeliveryWaits() throws Throwable {
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofMillis(12_345)));

        assertThat(rig.process(delivery, DeliveryRig::neverCalled)).isNull();

        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).isEmpty();
        assertThat(rig.orders.levels().waiting()).hasValue(1);
        assertThat(rig.renewer.inFlight()).isOne();
        assertThat(rig.store.releases()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"12345, 13", "21600000, 30", "-1000, 4"})
    void keyHeldElsewhereReturnsTheDeliveryWhenTheHoldersLeaseEndsIfItCannotWait(long leaseMillis, int seconds)
            throws Throwable {
        DeliveryRig crowded = new DeliveryRig(0);
        Delivery turnedAway = crowded.receive();
        crowded.store.onClaim(() -> new HeldElsewhere(Duration.ofMillis(leaseMillis)));

        crowded.process(turnedAway, DeliveryRig::neverCalled);

        assertThat(crowded.deliveries().settle(turnedAway)).isFalse();
        assertThat(crowded.returns()).containsExactly(seconds);
        assertThat(crowded.orders.levels().waiting()).hasValue(0);
        assertThat(crowded.renewer.inFlight()).isZero();
    }

    @Test
    void parkedKeyIsNeitherHandledNorAcknowledged(CapturedOutput output) throws Throwable {
        rig.store.onClaim(Parked::new);

        assertThat(rig.process(delivery, DeliveryRig::neverCalled)).isNull();

        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
        assertThat(output).containsOnlyOnce("is parked and waits for a person's decision");
    }

    @Test
    void eachDeliveryClaimsUnderAnIdOfItsOwn() throws Throwable {
        rig.process(delivery, claim -> null);
        rig.process(rig.receive(), claim -> null);

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::id)
                .doesNotHaveDuplicates()
                .hasSize(2);
    }

    @Test
    void leaseIsRenewedWhileTheHandlerRunsAndNoLonger() throws Throwable {
        rig.process(delivery, claim -> {
            for (int second = 0; second < 60; second++) {
                rig.clock.advance(Duration.ofSeconds(1));
                rig.renewer.tick();
            }
            claim.ensureHeld();
            return null;
        });
        int renewals = rig.store.renewals().size();
        assertThat(renewals).isEqualTo(6);

        rig.clock.advance(Duration.ofSeconds(15));
        rig.renewer.tick();
        ClaimId claim = rig.store.claims().get(0).id();
        assertThat(rig.store.renewals())
                .hasSize(renewals)
                .allSatisfy(renewal -> assertThat(renewal)
                        .singleElement()
                        .satisfies(request -> assertThat(request.claim()).isEqualTo(claim)));
        assertThat(rig.queue.requests()).hasSizeGreaterThanOrEqualTo(5);
    }
}
