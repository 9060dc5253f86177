package io.exactlyonce.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimHeldException;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.ClaimStoreException;
import io.exactlyonce.ExactlyOnceException;
import io.exactlyonce.ExactlyOnceOperations.Action;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.KeyReusedException;
import io.exactlyonce.ParkedException;
import io.exactlyonce.StoredResultException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.result.StoredResults;
import io.exactlyonce.result.TestResults;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class ActionExecutorTests {

    private static final InDoubtSettings PARKING = new InDoubtSettings(InDoubtPolicy.PARK, null, List.of());

    private Function<Object, String> written = Object::toString;
    private Function<String, Integer> readBack = Integer::valueOf;
    private final DeliveryRig rig = new DeliveryRig();
    private final ActionExecutor executions = new ActionExecutor(
            rig.claims(),
            new ClaimSettings("worker", null),
            rig.renewer,
            new StoredResults(
                    new TestResults(
                            result -> written.apply(result),
                            (json, type) -> json.equals("null") ? null : readBack.apply(json)),
                    4),
            rig.clock);

    private InDoubtSettings doubt = InDoubtSettings.RERUN;

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void callWithinATransactionIsRefusedSinceItMayStillBeRolledBack() {
        new TransactionTemplate(new ScriptedTransactions())
                .executeWithoutResult(status -> assertThatThrownBy(() -> execute(claim -> 7))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("call it outside"));

        assertThat(rig.store.claims()).isEmpty();
    }

    @Test
    void callAfterATransactionRuns() {
        new TransactionTemplate(new ScriptedTransactions())
                .executeWithoutResult(status ->
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                            @Override
                            public void afterCompletion(int completed) {
                                execute(claim -> 7);
                            }
                        }));

        rig.assertCompleted("7");
    }

    @Test
    void actionRunsUnderAClaimAndItsResultIsKept() {
        assertThat(execute("body", claim -> {
                    assertThat(claim.downstreamKey()).isEqualTo(DeliveryRig.KEY.downstreamKey());
                    claim.ensureHeld();
                    return 7;
                }))
                .isEqualTo(7);

        ClaimRequest request = rig.store.claims().get(0);
        assertThat(request.key()).isEqualTo(DeliveryRig.KEY);
        assertThat(request.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(request.fingerprint()).isEqualTo(ClaimKey.sha256("body"));
        rig.assertCompleted("7");
    }

    @Test
    void leaseIsRenewedWhileTheActionRunsAndNoLonger() {
        AtomicReference<Claim> kept = new AtomicReference<>();
        execute(claim -> {
            rig.tickFor(Duration.ofSeconds(60));
            claim.ensureHeld();
            kept.set(claim);
            return 7;
        });
        assertThat(rig.store.renewals()).hasSize(4);

        rig.tickFor(Duration.ofSeconds(20));
        assertThat(rig.store.renewals()).hasSize(4);
        assertThatThrownBy(() -> kept.get().ensureHeld()).isInstanceOf(ClaimLostException.class);
        assertThat(rig.queue.requests()).isEmpty();
    }

    @Test
    void storedResultIsReplayedWithoutTheAction() {
        rig.store.answer(new AlreadyCompleted("7"), new AlreadyCompleted("null"), new AlreadyCompleted("7"));

        assertThat(execute(ActionExecutorTests::neverCalled)).isEqualTo(7);
        assertThat(execute(ActionExecutorTests::neverCalled)).isNull();
        assertThat(this.<Integer>execute(int.class)).isEqualTo(7);

        assertThat(rig.store.completions()).isEmpty();
    }

    @Test
    void resultThatIsNullIsKeptAsSuch() {
        assertThat(execute(claim -> null)).isNull();

        rig.assertCompleted("null");
    }

    @Test
    void absentResultIsReplayedOnlyToCallersThatWantNone() {
        rig.store.answer(new AlreadyCompleted(null), new AlreadyCompleted(null));

        assertThat(this.<Void>execute(Void.class)).isNull();
        assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled))
                .isInstanceOf(StoredResultException.class)
                .hasMessageContaining("no result was kept")
                .hasMessageContaining(DeliveryRig.KEY.keyHash())
                .hasMessageNotContaining("A-1");
    }

    @Test
    void storedResultOfAnotherTypeIsRefusedByName() {
        rig.store.answer(new AlreadyCompleted("secret"));

        assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled))
                .isInstanceOf(StoredResultException.class)
                .hasMessageContaining("does not fit java.lang.Integer")
                .hasMessageContaining("orders")
                .hasMessageNotContaining("secret");
    }

    @Test
    void keyThatIsNotFreeIsRefusedWithItsReason() {
        rig.store.answer(new HeldElsewhere(Duration.ofMillis(12_345)), new Parked(), new Mismatch("7"));

        assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled))
                .isInstanceOfSatisfying(
                        ClaimHeldException.class,
                        held -> assertThat(held.retryAfter()).isEqualTo(Duration.ofMillis(12_345)))
                .hasMessageContaining("12345 ms");
        assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled)).isInstanceOf(ParkedException.class);
        assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled)).isInstanceOf(KeyReusedException.class);
        assertThat(rig.store.releases()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"RERUN", "PARK"})
    void failedActionFreesItsKeyUnderAnyPolicy(InDoubtPolicy policy) {
        doubt = new InDoubtSettings(policy, null, List.of());
        IOException failure = new IOException("provider is down");

        assertThatThrownBy(() -> execute(claim -> {
                    throw failure;
                }))
                .isSameAs(failure);

        rig.assertReleased("java.io.IOException: provider is down");
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.store.parkings()).isEmpty();
    }

    @Test
    void actionThatIsStoppedParksItsKeyIfDoubtsAreToBeParked() {
        doubt = PARKING;

        assertThatThrownBy(() -> execute(claim -> {
                    loseLease();
                    assertThat(Thread.interrupted()).isTrue();
                    assertThatThrownBy(claim::ensureHeld).isInstanceOf(ClaimLostException.class);
                    throw new InterruptedException("stopped");
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.claims()).extracting(ClaimRequest::inDoubt).containsExactly(InDoubt.PARK);
        assertParkedInDoubt();
        assertThat(rig.store.releases()).isEmpty();
    }

    /** An application may interrupt the thread of a request whose client has disconnected. */
    @Test
    void actionWhoseThreadTheApplicationInterruptsParksItsKeyIfDoubtsAreToBeParked() {
        doubt = PARKING;

        assertThatThrownBy(() -> execute(claim -> {
                    Thread.currentThread().interrupt();
                    new CountDownLatch(1).await();
                    return 7;
                }))
                .isInstanceOf(InterruptedException.class);

        assertParkedInDoubt();
    }

    private void assertParkedInDoubt() {
        assertThat(rig.store.parkings())
                .extracting(ClaimResolution.Parked::claim, ClaimResolution.Parked::inDoubt)
                .containsExactly(tuple(rig.claimed(), true));
    }

    @Test
    void resultOfALostClaimIsDiscarded() {
        rig.store.onComplete(requested -> Set.of());

        assertThatThrownBy(() -> execute(claim -> {
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

        assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled)).isInstanceOf(ClaimLostException.class);

        assertThat(rig.store.releases()).singleElement().matches(release -> !release.inDoubt());
    }

    @Test
    void completionIsRepeatedWhileTheLeaseLasts() {
        rig.store.loseCompletions(1);

        assertThat(execute(claim -> 7)).isEqualTo(7);

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

        assertThatThrownBy(() -> execute(claim -> 7))
                .isInstanceOfSatisfying(ClaimStoreException.class, ActionExecutorTests::assertNamesTheKey)
                .hasMessageContaining("The action has ended, but its completion may not be recorded")
                .hasRootCauseMessage("connection refused");

        assertThat(rig.store.completions()).hasSize(3);
        assertThat(rig.store.releases()).isEmpty();
    }

    /** A store that an application writes may throw any exception. */
    @Test
    void storeThatDoesNotAnswerAClaimIsNamedAsTheReason() {
        for (int attempt = 0; attempt < 3; attempt++) {
            rig.store.onClaim(() -> {
                throw new IllegalStateException("connection refused");
            });
        }

        assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled))
                .isInstanceOfSatisfying(ClaimStoreException.class, ActionExecutorTests::assertNamesTheKey)
                .hasMessageContaining("the action was not called")
                .hasRootCauseMessage("connection refused");
    }

    @Test
    void storeThatIsBusyIsNamedAsTheReason() {
        for (int attempt = 0; attempt < 3; attempt++) {
            rig.store.onClaim(() -> {
                throw new ClaimStoreBusyException("the queue is full");
            });
        }

        assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled))
                .isInstanceOfSatisfying(ClaimStoreBusyException.class, ActionExecutorTests::assertNamesTheKey)
                .hasMessageContaining("the action was not called");
    }

    /** An exception handler of the application finds the scope and the key's hash in each exception of the library. */
    @Test
    void eachRefusalNamesTheKeyByItsHash() {
        rig.store.answer(
                new HeldElsewhere(Duration.ofSeconds(1)), new Parked(), new Mismatch("7"), new AlreadyCompleted(null));

        for (int refusal = 0; refusal < 4; refusal++) {
            assertThatThrownBy(() -> execute(ActionExecutorTests::neverCalled))
                    .isInstanceOfSatisfying(ExactlyOnceException.class, ActionExecutorTests::assertNamesTheKey)
                    .hasMessageContaining(DeliveryRig.KEY.keyHash())
                    .hasMessageNotContaining(DeliveryRig.KEY.key());
        }
    }

    private static void assertNamesTheKey(ExactlyOnceException thrown) {
        assertThat(thrown.scope()).isEqualTo(DeliveryRig.KEY.scope());
        assertThat(thrown.keyHash()).isEqualTo(DeliveryRig.KEY.keyHash()).hasSize(16);
    }

    @Test
    void resultThatIsTooLargeIsReturnedAllTheSame() {
        assertThat(execute(claim -> 12_345)).isEqualTo(12_345);

        rig.assertCompleted(null);
    }

    /** Later callers get a result that was written as JSON and read back. The first caller must get an equal result. */
    @Test
    void firstCallerGetsTheResultAsLaterOnesDo() {
        readBack = json -> Integer.parseInt(json) + 1;
        rig.store.answer(new Acquired(1, 1, false), new AlreadyCompleted("7"));

        assertThat(execute(claim -> 7)).isEqualTo(8);
        assertThat(execute(ActionExecutorTests::neverCalled)).isEqualTo(8);

        rig.assertCompleted("7");
    }

    /**
     * The effect has happened, so the claim is completed. The first caller gets an exception, because later callers
     * cannot read the result either.
     */
    @Test
    void resultThatCannotBeReadBackCompletesItsKeyAndFailsTheFirstCall() {
        readBack = json -> {
            throw new IllegalStateException("no constructor");
        };

        assertThatThrownBy(() -> execute(claim -> 7))
                .isInstanceOf(StoredResultException.class)
                .hasMessageContaining("cannot be written as JSON and read back as java.lang.Integer")
                .hasRootCauseMessage("java.lang.IllegalStateException");

        rig.assertCompleted(null);
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void resultThatCannotBeWrittenCompletesItsKeyAndFailsTheFirstCall() {
        written = result -> {
            throw new IllegalStateException("no serializer");
        };

        assertThatThrownBy(() -> execute(claim -> 7)).isInstanceOf(StoredResultException.class);

        rig.assertCompleted(null);
    }

    @Test
    void typeThatIsReadBackAsAnotherIsRefusedBeforeTheAction() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> execute(List.class))
                .withMessageContaining("java.util.List cannot be stored");

        assertThat(rig.store.claims()).isEmpty();
    }

    /** Simulates a takeover by another worker, and lets the next renewal detect the loss. */
    private void loseLease() {
        rig.store.onRenew(requested -> Set.of());
        rig.tickFor(Duration.ofSeconds(16));
    }

    private <X extends Throwable> Integer execute(Action<Integer, X> action) throws X {
        return execute(null, action);
    }

    private <X extends Throwable> Integer execute(@Nullable String payload, Action<Integer, X> action) throws X {
        return executions.execute(
                new ClaimSpec(DeliveryRig.KEY, payload == null ? null : Content.ofBody(payload), doubt),
                ParameterizedTypeReference.forType(Integer.class),
                action);
    }

    private <T> T execute(Class<T> type) {
        return executions.execute(DeliveryRig.spec(doubt), ParameterizedTypeReference.forType(type), claim -> {
            throw new AssertionError("The action was called");
        });
    }

    private static Integer neverCalled(Claim claim) {
        throw new AssertionError("The action was called with attempt " + claim.attempt());
    }
}
