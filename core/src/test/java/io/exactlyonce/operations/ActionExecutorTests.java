package io.exactlyonce.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimHeldException;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.ExactlyOnceOperations.Action;
import io.exactlyonce.KeyReusedException;
import io.exactlyonce.ParkedException;
import io.exactlyonce.StoredResultException;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.delivery.TestResults;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionSynchronizationManager;

class ActionExecutorTests {

    private static final InDoubtPolicy PARKING = new InDoubtPolicy(AbandonedPolicy.PARK, null, List.of());

    private final DeliveryRig rig = new DeliveryRig();
    private final AtomicReference<Function<Object, String>> writer = new AtomicReference<>(Object::toString);
    private final ActionExecutor executions = new ActionExecutor(
            rig.claims(),
            new ClaimSettings("worker", null),
            rig.renewer,
            new StoredResults(
                    new TestResults(
                            result -> writer.get().apply(result),
                            (json, type) -> json.equals("null") ? null : Integer.valueOf(json)),
                    100),
            rig.clock);

    private InDoubtPolicy doubt = InDoubtPolicy.RERUN;

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void callWithinATransactionIsRefusedSinceItMayStillBeRolledBack() {
        TransactionSynchronizationManager.setActualTransactionActive(true);
        try {
            assertThatThrownBy(() -> executions.execute(
                            new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN), String.class, claim -> "paid"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("call it outside");
        } finally {
            TransactionSynchronizationManager.setActualTransactionActive(false);
        }

        assertThat(rig.store.claims()).isEmpty();
    }

    @Test
    void actionRunsUnderAClaimAndItsResultIsKept() {
        assertThat(execute("body", claim -> {
                    assertThat(claim.downstreamKey()).isEqualTo(DeliveryRig.KEY.hash());
                    claim.ensureHeld();
                    return 7;
                }))
                .isEqualTo(7);

        ClaimRequest request = rig.store.claims().get(0);
        assertThat(request.key()).isEqualTo(DeliveryRig.KEY);
        assertThat(request.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(request.fingerprint()).isEqualTo(ClaimKey.sha256("body"));
        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(request.id(), "7"));
    }

    @Test
    void payloadIsComparedOnlyIfThereIsOne() {
        execute(null, claim -> 7);

        assertThat(rig.store.claims().get(0).fingerprint()).isNull();
    }

    @Test
    void leaseIsRenewedWhileTheActionRunsAndNoLonger() {
        AtomicReference<Claim> kept = new AtomicReference<>();
        execute(null, claim -> {
            for (int second = 0; second < 60; second++) {
                rig.clock.advance(Duration.ofSeconds(1));
                rig.renewer.tick();
            }
            claim.ensureHeld();
            kept.set(claim);
            return 7;
        });
        assertThat(rig.store.renewals()).hasSize(4);

        rig.clock.advance(Duration.ofSeconds(20));
        rig.renewer.tick();
        assertThat(rig.store.renewals()).hasSize(4);
        assertThatThrownBy(() -> kept.get().ensureHeld()).isInstanceOf(ClaimLostException.class);
        assertThat(rig.queue.requests()).isEmpty();
    }

    @Test
    void storedResultIsReplayedWithoutTheAction() {
        rig.store.onClaim(() -> new AlreadyCompleted("7"));

        assertThat(execute(null, ActionExecutorTests::neverCalled)).isEqualTo(7);

        assertThat(rig.store.completions()).isEmpty();
    }

    @Test
    void resultThatIsNullIsReplayedAsSuch() {
        assertThat(execute(null, claim -> null)).isNull();
        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), "null"));
        rig.store.onClaim(() -> new AlreadyCompleted("null"));

        assertThat(execute(null, ActionExecutorTests::neverCalled)).isNull();
    }

    @Test
    void absentResultIsReplayedOnlyToCallersThatWantNone() {
        rig.store.onClaim(() -> new AlreadyCompleted(null));
        rig.store.onClaim(() -> new AlreadyCompleted(null));

        assertThat(executions.execute(
                        new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN), Void.class, claim -> null))
                .isNull();
        assertThatThrownBy(() -> execute(null, ActionExecutorTests::neverCalled))
                .isInstanceOf(StoredResultException.class)
                .hasMessageContaining("no result was kept")
                .hasMessageContaining(DeliveryRig.KEY.hash())
                .hasMessageNotContaining("A-1");
    }

    @Test
    void storedResultOfAnotherTypeIsRefusedByName() {
        rig.store.onClaim(() -> new AlreadyCompleted("secret"));

        assertThatThrownBy(() -> execute(null, ActionExecutorTests::neverCalled))
                .isInstanceOf(StoredResultException.class)
                .hasMessageContaining("does not fit java.lang.Integer")
                .hasMessageContaining("orders")
                .hasMessageNotContaining("secret");
    }

    @Test
    void primitiveTypeIsReadAsItsWrapper() {
        rig.store.onClaim(() -> new AlreadyCompleted("7"));

        assertThat(executions.<Integer, RuntimeException>execute(
                        new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN), int.class, claim -> 8))
                .isEqualTo(7);
    }

    @Test
    void keyThatIsNotFreeIsRefusedWithItsReason() {
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofMillis(12_345)));
        rig.store.onClaim(Parked::new);
        rig.store.onClaim(() -> new Mismatch("7"));

        assertThatThrownBy(() -> execute(null, ActionExecutorTests::neverCalled))
                .isInstanceOfSatisfying(
                        ClaimHeldException.class,
                        held -> assertThat(held.retryAfter()).isEqualTo(Duration.ofMillis(12_345)))
                .hasMessageContaining("12345 ms");
        assertThatThrownBy(() -> execute(null, ActionExecutorTests::neverCalled))
                .isInstanceOf(ParkedException.class);
        assertThatThrownBy(() -> execute(null, ActionExecutorTests::neverCalled))
                .isInstanceOf(KeyReusedException.class);
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void failedActionGivesItsKeyUp() {
        IOException failure = new IOException("provider is down");

        assertThatThrownBy(() -> execute(null, claim -> {
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(claimed(), "java.io.IOException: provider is down", false));
        assertThat(rig.store.completions()).isEmpty();
    }

    @Test
    void actionThatLearnedByItselfThatItsClaimIsLostIsReleasedAsAmbiguous() {
        assertThatThrownBy(() -> execute(null, claim -> {
                    rig.clock.advance(Duration.ofSeconds(31));
                    claim.ensureHeld();
                    return 7;
                }))
                .isInstanceOf(ClaimLostException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
    }

    @Test
    void lostClaimInterruptsItsActionAndIsReleasedAsAmbiguous() {
        assertThatThrownBy(() -> execute(null, claim -> {
                    loseLease();
                    assertThat(Thread.interrupted()).isTrue();
                    assertThatThrownBy(claim::ensureHeld).isInstanceOf(ClaimLostException.class);
                    throw new InterruptedException("stopped");
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
    }

    @Test
    void actionThatIsStoppedParksItsKeyIfDoubtsAreToBeParked() {
        doubt = PARKING;

        assertThatThrownBy(() -> execute(null, claim -> {
                    loseLease();
                    assertThat(Thread.interrupted()).isTrue();
                    throw new InterruptedException("stopped");
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.claims()).extracting(ClaimRequest::inDoubt).containsExactly(InDoubt.PARK);
        assertThat(rig.store.parkings()).singleElement().satisfies(parking -> {
            assertThat(parking.claim()).isEqualTo(claimed());
            assertThat(parking.ambiguous()).isTrue();
        });
        assertThat(rig.store.releases()).isEmpty();
    }

    /** As of a request whose caller has gone. */
    @Test
    void actionWhoseThreadTheApplicationInterruptsParksItsKeyIfDoubtsAreToBeParked() {
        doubt = PARKING;

        assertThatThrownBy(() -> execute(null, claim -> {
                    Thread.currentThread().interrupt();
                    new CountDownLatch(1).await();
                    return 7;
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.parkings()).singleElement().satisfies(parking -> {
            assertThat(parking.claim()).isEqualTo(claimed());
            assertThat(parking.ambiguous()).isTrue();
        });
    }

    @Test
    void actionThatFailsByItselfFreesItsKeyUnderAnyPolicy() {
        doubt = PARKING;

        assertThatThrownBy(() -> execute(null, claim -> {
                    throw new IllegalStateException("declined");
                }))
                .hasMessage("declined");

        assertThat(rig.store.parkings()).isEmpty();
        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isFalse());
    }

    @Test
    void resultOfALostClaimIsDiscarded() {
        rig.store.onComplete(requested -> Set.of());

        assertThatThrownBy(() -> execute(null, claim -> {
                    loseLease();
                    return 7;
                }))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("its result is discarded");
    }

    @Test
    void actionIsNotRunWhenAPauseUsedUpItsLease() {
        rig.store.onClaim(() -> {
            rig.clock.advance(Duration.ofSeconds(30));
            return new Acquired(1, 1, false);
        });

        assertThatThrownBy(() -> execute(null, ActionExecutorTests::neverCalled))
                .isInstanceOf(ClaimLostException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isFalse());
    }

    @Test
    void completionIsRepeatedWhileTheLeaseLasts() {
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused");
        });

        assertThat(execute(null, claim -> 7)).isEqualTo(7);

        assertThat(rig.store.completions()).hasSize(2);
    }

    @Test
    void completionIsGivenUpWhenTheLeaseEnds() {
        for (int attempt = 0; attempt < 5; attempt++) {
            rig.store.onComplete(requested -> {
                rig.clock.advance(Duration.ofSeconds(30));
                throw new IllegalStateException("connection refused");
            });
        }

        assertThatThrownBy(() -> execute(null, claim -> 7)).hasMessage("connection refused");

        assertThat(rig.store.completions()).hasSize(3);
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void resultThatCannotBeKeptIsReturnedAllTheSame() {
        writer.set(result -> "1".repeat(101));

        assertThat(execute(null, claim -> 7)).isEqualTo(7);

        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), null));
    }

    /** Has another worker take the key over, and the next renewal notice it. */
    private void loseLease() {
        rig.store.onRenew(requested -> Set.of());
        rig.clock.advance(Duration.ofSeconds(16));
        rig.renewer.tick();
    }

    private <X extends Throwable> Integer execute(String payload, Action<Integer, X> action) throws X {
        return executions.execute(new ClaimSpec(DeliveryRig.KEY, payload, doubt), Integer.class, action);
    }

    private ClaimId claimed() {
        return rig.store.claims().get(0).id();
    }

    private static Integer neverCalled(Claim claim) {
        throw new AssertionError("The action was called with attempt " + claim.attempt());
    }
}
