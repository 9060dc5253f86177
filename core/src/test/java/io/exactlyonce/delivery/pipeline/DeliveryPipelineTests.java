package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.FollowUp;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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
        assertThat(rig.store.claims())
                .extracting(ClaimRequest::key, ClaimRequest::owner)
                .containsExactly(tuple(DeliveryRig.KEY, "worker"));
        rig.assertCompleted("\"charged\"");
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.settle(delivery)).isTrue();
        assertThat(rig.returns()).isEmpty();
        assertThat(rig.outcomes).containsExactly(new Acquired(1, 1, false));
        assertThat(rig.handlerScopes).containsExactly("left", "ended: null");
    }

    @Test
    void handlerSeesItsClaimWhichIsNoLongerHeldAfterIt() throws Throwable {
        rig.store.answer(new Acquired(3, 17, true));
        AtomicReference<Claim> kept = new AtomicReference<>();

        rig.process(delivery, claim -> {
            assertThat(claim.key()).isEqualTo("A-1");
            assertThat(claim.attempt()).isEqualTo(3);
            assertThat(claim.fencingToken()).isEqualTo(17);
            assertThat(claim.isInDoubt()).isTrue();
            assertThat(claim.scope()).isEqualTo(DeliveryRig.KEY.scope());
            assertThat(claim.keyHash()).isEqualTo(DeliveryRig.KEY.keyHash());
            assertThat(claim.downstreamKey("refund")).isEqualTo(DeliveryRig.KEY.downstreamKey("refund"));
            assertThat(claim.downstreamKey()).matches("[0-9a-f]{64}").isEqualTo(DeliveryRig.KEY.downstreamKey());
            assertThat(claim.followUp("shipped"))
                    .isEqualTo(new FollowUp(DeliveryRig.KEY.downstreamKey("shipped")))
                    .isNotEqualTo(claim.followUp("billed"));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> claim.followUp(" "))
                    .withMessageContaining("must not be blank; name the call or message");
            claim.ensureHeld();
            kept.set(claim);
            return null;
        });

        assertThat(rig.handled).hasSize(1);
        for (ThrowingCallable late : List.<ThrowingCallable>of(
                kept.get()::ensureHeld, () -> kept.get().followUp("shipped"))) {
            assertThatThrownBy(late).isInstanceOfSatisfying(ClaimLostException.class, lost -> {
                assertThat(lost.scope()).isEqualTo("orders");
                assertThat(lost.fencingToken()).isEqualTo(17);
                assertThat(lost).hasMessageContaining("its handler has ended").hasMessageNotContaining("A-1");
            });
        }
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
    void leaseIsAsLongAsTheVisibilityTimeoutUnlessItIsSet() throws Throwable {
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

        assertHeldFor(Duration.ofSeconds(20));
        assertThat(rig.store.claims()).hasSize(2);
        assertThat(rig.store.claims().get(1)).isEqualTo(rig.store.claims().get(0));
    }

    private void assertHeldFor(Duration lease) throws Throwable {
        rig.process(delivery, claim -> {
            rig.clock.advance(lease.minusMillis(1));
            claim.ensureHeld();
            rig.clock.advance(Duration.ofMillis(1));
            assertThatThrownBy(claim::ensureHeld).isInstanceOf(ClaimLostException.class);
            return null;
        });

        assertThat(rig.handled).hasSize(1);
    }

    /** The claim waits before the store writes it, and the lease starts with that write. */
    @Test
    void timeForWhichAClaimWaitsForTheStoreIsNoPartOfItsLease() throws Throwable {
        rig.storeThreads = task -> {
            rig.clock.advance(Duration.ofSeconds(3));
            task.run();
        };

        assertHeldFor(Duration.ofSeconds(20));
    }

    /**
     * The store starts the lease at some moment during the call. The worker does not know this moment, so it counts the
     * lease from the start of the call.
     */
    @Test
    void timeOfTheRequestToTheStoreIsPartOfALease() throws Throwable {
        rig.store.onClaim(() -> {
            rig.clock.advance(Duration.ofSeconds(3));
            return new Acquired(1, 17, false);
        });

        assertHeldFor(Duration.ofSeconds(17));
    }

    @Test
    void claimOnTheLastReceiveIsNotRepeatedAnyMoreWhenItsListenerStops() throws Throwable {
        Delivery last = rig.receiveLast();
        rig.store.onClaim(() -> {
            last.abandon();
            throw new IllegalStateException("connection refused");
        });

        rig.process(last, DeliveryRig::neverCalled);

        assertThat(rig.store.claims()).hasSize(1);
    }

    @Test
    void duplicateIsAcknowledgedWithoutItsHandler() throws Throwable {
        rig.store.answer(new AlreadyCompleted("\"charged\""));

        assertThat(rig.process(delivery, DeliveryRig::neverCalled)).isNull();

        assertThat(delivery.processed()).isDone();
        assertThat(rig.settle(delivery)).isTrue();
        assertThat(rig.returns()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.outcomes).containsExactly(new AlreadyCompleted("\"charged\""));
    }

    @Test
    void keyHeldElsewhereEndsThePipelineAndItsDeliveryWaits() throws Throwable {
        rig.store.answer(new HeldElsewhere(Duration.ofMillis(12_345)));

        assertThat(rig.process(delivery, DeliveryRig::neverCalled)).isNull();

        rig.assertReturned(delivery);
        assertThat(rig.orders.levels().waiting()).hasValue(1);
        assertThat(rig.renewer.renewedCount()).isOne();
        assertThat(rig.store.releases()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"12345, 13", "21600000, 30", "-1000, 4"})
    void keyHeldElsewhereReturnsTheDeliveryWhenTheOwnersLeaseEndsIfItCannotWait(long leaseMillis, int seconds)
            throws Throwable {
        DeliveryRig crowded = new DeliveryRig(0);
        Delivery turnedAway = crowded.receive();
        crowded.store.onClaim(() -> new HeldElsewhere(Duration.ofMillis(leaseMillis)));

        crowded.process(turnedAway, DeliveryRig::neverCalled);

        crowded.assertReturned(turnedAway, seconds);
        assertThat(crowded.orders.levels().waiting()).hasValue(0);
        assertThat(crowded.renewer.renewedCount()).isZero();
    }

    @Test
    void parkedKeyIsNeitherHandledNorAcknowledged(CapturedOutput output) throws Throwable {
        rig.store.answer(new Parked());

        assertThat(rig.process(delivery, DeliveryRig::neverCalled)).isNull();

        rig.assertReturned(delivery, 4);
        assertThat(output).containsOnlyOnce("is parked until an operator decides");
    }

    @Test
    void leaseIsRenewedWhileTheHandlerRunsAndNoLonger() throws Throwable {
        rig.process(delivery, claim -> {
            rig.tickFor(Duration.ofSeconds(60));
            claim.ensureHeld();
            return null;
        });
        int renewals = rig.store.renewals().size();
        assertThat(renewals).isEqualTo(6);

        rig.tickFor(Duration.ofSeconds(15));
        assertThat(rig.store.renewals())
                .hasSize(renewals)
                .allSatisfy(renewal ->
                        assertThat(renewal).extracting(LeaseRenewal::claim).containsExactly(rig.claimed()));
        assertThat(rig.queue.requests()).hasSizeGreaterThanOrEqualTo(5);
    }
}
