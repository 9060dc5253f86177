package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.visibility.PollGate;
import io.exactlyonce.visibility.Subscription;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each policy with each end of an attempt: the table in docs/decisions/0004. */
class DoubtTests {

    static final class CardExpired extends Exception {
        CardExpired() {
            super("expired");
        }
    }

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void onlyParkLeavesADoubtToAPersonWhenItClaims(AbandonedPolicy policy) throws Throwable {
        process(policy(policy), claim -> null);

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::inDoubt)
                .containsExactly(policy == AbandonedPolicy.PARK ? InDoubt.PARK : InDoubt.TAKE_OVER);
    }

    @ParameterizedTest
    @EnumSource
    void handlersOwnExceptionIsNoDoubtUnderAnyPolicy(AbandonedPolicy policy) {
        assertThatThrownBy(() -> process(policy(policy), claim -> {
                    throw new IOException("provider is down");
                }))
                .isInstanceOf(IOException.class);

        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(claimed(), "java.io.IOException: provider is down", false));
        assertThat(rig.store.parkings()).isEmpty();
        assertReturned();
    }

    /** Nothing keeps an application from that: the look for an interrupt among them must end. */
    @Test
    void exceptionsThatAreEachOthersCauseAreNoDoubt() {
        IOException refused = new IOException("connection refused");
        IllegalStateException failed = new IllegalStateException("provider is down", refused);
        refused.initCause(failed);

        assertThatThrownBy(() -> process(policy(AbandonedPolicy.PARK), claim -> {
                    throw failed;
                }))
                .isSameAs(failed);

        assertThat(rig.store.releases()).containsExactly(new ClaimEnd.Released(claimed(), failed.toString(), false));
        assertThat(rig.store.parkings()).isEmpty();
    }

    /** As when an application stops its own threads: what the handler had done by then is not known. */
    @ParameterizedTest
    @EnumSource
    void handlerThatTheApplicationItselfInterruptsLeavesADoubt(AbandonedPolicy policy) {
        assertThatThrownBy(() -> process(policy(policy), claim -> {
                    throw new IllegalStateException(new InterruptedException("stopped by the application"));
                }))
                .isInstanceOf(IllegalStateException.class);

        if (policy == AbandonedPolicy.PARK) {
            assertThat(rig.store.parkings()).singleElement().matches(ClaimEnd.Parked::ambiguous);
        } else {
            assertThat(rig.store.releases()).singleElement().matches(ClaimEnd.Released::ambiguous);
        }
    }

    @ParameterizedTest
    @EnumSource
    void handlerThatWasNotCalledIsNoDoubtUnderAnyPolicy(AbandonedPolicy policy) {
        rig.store.onClaim(() -> {
            delivery.stopHandler();
            return new Acquired(1, 1, false);
        });

        assertThatThrownBy(() -> process(policy(policy), DeliveryRig::neverCalled))
                .hasMessageContaining("before the handler was called");

        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(claimed(), "the handler was not called", false));
        assertThat(rig.store.parkings()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"RERUN", "RECONCILE"})
    void stoppedHandlerIsReleasedAsAmbiguous(AbandonedPolicy policy) {
        assertThatThrownBy(() -> process(policy(policy), this::stopped)).isInstanceOf(InterruptedException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
        assertThat(rig.store.parkings()).isEmpty();
    }

    /** Its lease is over, and the supervisor has not looked yet. */
    private Object learnsOfItsLoss(Claim claim) throws Exception {
        rig.clock.advance(Duration.ofSeconds(31));
        try {
            claim.ensureHeld();
        } catch (ClaimLostException lost) {
            throw new ExecutionException(lost);
        }
        return "charged";
    }

    @Test
    void handlerThatLearnedByItselfThatItsClaimIsLostIsReleasedAsAmbiguous() {
        assertThatThrownBy(() -> process(policy(AbandonedPolicy.RERUN), this::learnsOfItsLoss))
                .isInstanceOf(ExecutionException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
    }

    /** As a channel does whose thread is interrupted while it writes: what the other side has received is not known. */
    @Test
    void handlerWhoseChannelAnInterruptHasClosedLeavesADoubt() {
        assertThatThrownBy(() -> process(policy(AbandonedPolicy.RERUN), claim -> {
                    throw new UncheckedIOException(new ClosedByInterruptException());
                }))
                .isInstanceOf(UncheckedIOException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
    }

    @Test
    void handlerThatLearnedByItselfThatItsClaimIsLostIsParkedUnderPark() {
        assertThatThrownBy(() -> process(policy(AbandonedPolicy.PARK), this::learnsOfItsLoss))
                .isInstanceOf(ExecutionException.class);

        assertThat(rig.store.parkings())
                .singleElement()
                .satisfies(parking -> assertThat(parking.ambiguous()).isTrue());
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void lossOfTheClaimOnAnotherKeyIsTheHandlersOwnException() {
        ClaimLostException other = new ClaimLostException("orders", "hash", 7, "the lease is over");

        assertThatThrownBy(() -> process(policy(AbandonedPolicy.PARK), claim -> {
                    throw other;
                }))
                .isSameAs(other);

        assertThat(rig.store.releases()).containsExactly(new ClaimEnd.Released(claimed(), other.toString(), false));
        assertThat(rig.store.parkings()).isEmpty();
    }

    @Test
    void stoppedHandlerIsParkedUnderPark() {
        assertThatThrownBy(() -> process(policy(AbandonedPolicy.PARK), this::stopped))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.parkings())
                .containsExactly(new ClaimEnd.Parked(
                        claimed(), "stopped from outside: java.lang.InterruptedException: stopped", true));
        assertThat(rig.store.releases()).isEmpty();
        assertReturned();
    }

    @ParameterizedTest
    @EnumSource
    void stoppedHandlerThatReturnedIsCompletedUnderAnyPolicy(AbandonedPolicy policy) throws Throwable {
        process(policy(policy), claim -> {
            delivery.stopHandler();
            return "charged";
        });

        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), "\"charged\""));
        assertThat(rig.store.parkings()).isEmpty();
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void exceptionForWhichTryingAgainIsOfNoUseParksUnderAnyPolicy(AbandonedPolicy policy) {
        assertThatThrownBy(() -> process(policy(policy, List.of(CardExpired.class)), claim -> {
                    throw new CardExpired();
                }))
                .isInstanceOf(CardExpired.class);

        assertThat(rig.store.parkings())
                .containsExactly(new ClaimEnd.Parked(claimed(), CardExpired.class.getName() + ": expired", false));
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.parked).containsExactly(claimed().key());
        assertReturned();
    }

    @Test
    void keyThatAnotherWorkerTookOverIsNotToldAsParked() {
        rig.store.onPark(parked -> Set.of());

        assertThatThrownBy(() -> process(policy(AbandonedPolicy.RERUN, List.of(CardExpired.class)), claim -> {
                    throw new CardExpired();
                }))
                .isInstanceOf(CardExpired.class);

        assertThat(rig.store.parkings()).hasSize(1);
        assertThat(rig.parked).isEmpty();
    }

    @Test
    void stoppedHandlerThatThrowsSuchAnExceptionIsParkedAsAmbiguous() {
        assertThatThrownBy(() -> process(policy(AbandonedPolicy.RERUN, List.of(CardExpired.class)), claim -> {
                    delivery.stopHandler();
                    throw new CardExpired();
                }))
                .isInstanceOf(CardExpired.class);

        assertThat(rig.store.parkings())
                .singleElement()
                .satisfies(parking -> assertThat(parking.ambiguous()).isTrue());
    }

    @Test
    void parkedClaimIsRenewedNoMoreAndAStoreThatDoesNotAnswerHidesNoException() {
        for (int attempt = 0; attempt < 3; attempt++) {
            rig.store.onPark(requested -> {
                rig.clock.advance(Duration.ofSeconds(12));
                rig.renewer.tick();
                throw new IllegalStateException("connection refused");
            });
        }

        assertThatThrownBy(() -> process(policy(AbandonedPolicy.RERUN, List.of(CardExpired.class)), claim -> {
                    throw new CardExpired();
                }))
                .isInstanceOf(CardExpired.class);

        assertThat(rig.store.parkings()).hasSize(4);
        assertThat(rig.store.renewals()).isEmpty();
        assertThat(rig.parked).containsExactly(DeliveryRig.KEY);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void keyThatWasTakenOverIsNotSaidToBeParked(CapturedOutput output) {
        rig.store.onPark(requested -> Set.of());

        assertThatThrownBy(() -> process(policy(AbandonedPolicy.PARK), this::stopped))
                .isInstanceOf(InterruptedException.class);

        assertThat(output).contains("is not parked: another worker took the key over");
    }

    @Test
    void keyWithoutADoubtIsNotReconciled() throws Throwable {
        Reconciler never = (listener, scope, claim) -> {
            throw new AssertionError("asked");
        };

        assertThat(process(reconciling(never), claim -> "charged")).isEqualTo("charged");
    }

    @Test
    void reconcilerLearnsWhatIsInDoubtUnderTheRenewedClaim() throws Throwable {
        inDoubt();
        rig.process(
                delivery,
                handling(reconciling((listener, scope, claim) -> {
                    assertThat(listener).isEqualTo("listener");
                    assertThat(scope).isEqualTo("orders");
                    assertThat(claim.key()).isEqualTo("A-1");
                    assertThat(claim.attempt()).isEqualTo(2);
                    assertThat(claim.isAmbiguous()).isTrue();
                    rig.clock.advance(Duration.ofSeconds(12));
                    rig.renewer.tick();
                    rig.clock.advance(Duration.ofSeconds(12));
                    claim.ensureHeld();
                    return Reconciliation.done(null);
                })),
                DeliveryRig::neverCalled);

        assertThat(rig.store.renewals()).hasSize(1);
    }

    @Test
    void doneIsCompletedWithItsResultAndAcknowledged() throws Throwable {
        inDoubt();

        Object result = process(
                reconciling((listener, scope, claim) -> Reconciliation.done("found")), DeliveryRig::neverCalled);

        assertThat(result).isEqualTo("found");
        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), "\"found\""));
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    /** Alerts on slow handlers go by it. */
    @Test
    void timeOfTheHandlerIsItsOwnAndNoneIsMeasuredWhereItWasNotCalled() throws Throwable {
        inDoubt();
        process(
                reconciling((listener, scope, claim) -> {
                    rig.clock.advance(Duration.ofSeconds(5));
                    return Reconciliation.runAgain();
                }),
                claim -> {
                    rig.clock.advance(Duration.ofSeconds(2));
                    return "charged";
                });
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(2));

        inDoubt();
        rig.process(
                rig.receive(),
                handling(reconciling((listener, scope, claim) -> Reconciliation.done(null))),
                DeliveryRig::neverCalled);
        assertThat(rig.handled).hasSize(1);
    }

    @Test
    void runAgainCallsTheHandler() throws Throwable {
        inDoubt();

        process(reconciling((listener, scope, claim) -> Reconciliation.runAgain()), claim -> {
            assertThat(delivery.left()).isNotDone();
            return "charged";
        });

        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), "\"charged\""));
    }

    @Test
    void parkIsParkedForItsReasonAndReturned() throws Throwable {
        inDoubt();

        Object result = process(
                reconciling((listener, scope, claim) -> Reconciliation.park("two charges found")),
                DeliveryRig::neverCalled);

        assertThat(result).isNull();
        assertThat(rig.store.parkings()).containsExactly(new ClaimEnd.Parked(claimed(), "two charges found", false));
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertReturned();
    }

    @Test
    void reconcilerThatFailsKeepsTheDoubtAndIsNoReasonToPark() {
        inDoubt();
        Reconciler failing = (listener, scope, claim) -> {
            throw new CardExpired();
        };

        assertThatThrownBy(() -> process(
                        new InDoubtPolicy(AbandonedPolicy.RECONCILE, failing, List.of(Exception.class)),
                        DeliveryRig::neverCalled))
                .hasMessageContaining("The reconciler failed")
                .hasCauseInstanceOf(CardExpired.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
        assertThat(rig.store.parkings()).isEmpty();
        assertReturned();
    }

    @Test
    void reconcilerThatAnswersNothingHasFailed() {
        inDoubt();

        assertThatThrownBy(() -> process(reconciling((listener, scope, claim) -> null), DeliveryRig::neverCalled))
                .hasMessageContaining("The reconciler answered null");

        assertThat(rig.store.releases()).hasSize(1);
    }

    @Test
    void reconcilerIsInterruptedWhenItsClaimIsLost() {
        inDoubt();

        assertThatThrownBy(() -> process(
                        reconciling((listener, scope, claim) -> {
                            rig.loseLease();
                            assertThat(Thread.interrupted()).isTrue();
                            throw new InterruptedException("stopped");
                        }),
                        DeliveryRig::neverCalled))
                .hasCauseInstanceOf(InterruptedException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
    }

    @Test
    void handlerIsNotCalledWhenItsLeaseEndedWhileTheReconcilerLooked() {
        inDoubt();

        assertNotCalledAfter(delivery, () -> rig.clock.advance(Duration.ofSeconds(25)));

        assertReturned();
    }

    /** The thread is interrupted once, and the reconciler has taken that to be its own business. */
    @Test
    void handlerIsNotCalledWhenItsReconcilerSwallowedTheInterruptOfATakeover() {
        inDoubt();

        assertNotCalledAfter(delivery, () -> {
            rig.loseLease();
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    void handlerIsNotCalledWhenItsReconcilerDidNotNoticeTheInterrupt() {
        inDoubt();

        assertNotCalledAfter(delivery, delivery::stopHandler);
    }

    @Test
    void handlerIsNotCalledWhenItsTimeoutPassedWhileTheReconcilerLooked() {
        inDoubt();

        assertNotCalledAfter(rig.receiveLimited(Duration.ofSeconds(5)), () -> {
            rig.tickFor(Duration.ofSeconds(6));
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    void handlerIsNotCalledWhenItsTimeoutPassedInAPauseThatIsNotNoticedYet() {
        inDoubt();

        assertNotCalledAfter(rig.receiveLimited(Duration.ofSeconds(5)), () -> rig.clock.advance(Duration.ofSeconds(6)));
    }

    @Test
    void messageIsVisibleAtOnceWhenItsListenerBeganToStopWhileTheReconcilerLooked() {
        inDoubt();

        assertNotCalledAfter(delivery, () -> rig.deliveries().beginStop(rig.orders));

        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(0);
    }

    /** Its queue would give it up untried. */
    @Test
    void handlerOfALastReceiveIsCalledAlthoughItsListenerBeganToStopWhileTheReconcilerLooked() throws Throwable {
        inDoubt();
        Subscription orders =
                new Subscription("listener", "orders", rig.orders.window(), null, rig.queue, 3, PollGate.OPEN);
        Delivery last = rig.receive(orders, "last", 3);

        rig.process(
                last,
                handling(reconciling((listener, scope, claim) -> {
                    rig.deliveries().beginStop(orders);
                    return Reconciliation.runAgain();
                })),
                claim -> "charged");

        assertThat(rig.deliveries().settle(last)).isTrue();
    }

    /** What the reconciler has found has happened, also where another worker holds the key by now; the store decides. */
    @Test
    void doneIsCompletedAlsoWhenTheLeaseEndedWhileTheReconcilerLooked() throws Throwable {
        inDoubt();

        process(
                reconciling((listener, scope, claim) -> {
                    rig.clock.advance(Duration.ofSeconds(25));
                    return Reconciliation.done("found");
                }),
                DeliveryRig::neverCalled);

        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), "\"found\""));
    }

    /** The doubt from before stays in the store; nothing is added to it, nor is it a failure to park for. */
    private void assertNotCalledAfter(Delivery received, Runnable event) {
        Reconciler slow = (listener, scope, claim) -> {
            event.run();
            return Reconciliation.runAgain();
        };
        InDoubtPolicy policy = new InDoubtPolicy(AbandonedPolicy.RECONCILE, slow, List.of(RuntimeException.class));

        assertThatThrownBy(() -> rig.process(received, handling(policy), DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("before the handler was called");

        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(claimed(), "the handler was not called", false));
        assertThat(rig.store.parkings()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(Thread.interrupted()).isFalse();
    }

    private Object stopped(Claim claim) throws InterruptedException {
        delivery.stopHandler();
        assertThat(Thread.interrupted()).isTrue();
        throw new InterruptedException("stopped");
    }

    private void inDoubt() {
        rig.store.onClaim(() -> new Acquired(2, 2, true));
    }

    private Object process(InDoubtPolicy policy, DeliveryRig.SingleHandler handler) throws Throwable {
        return rig.process(delivery, handling(policy), handler);
    }

    private static ClaimSpec handling(InDoubtPolicy policy) {
        return new ClaimSpec(DeliveryRig.KEY, null, policy);
    }

    private static InDoubtPolicy policy(AbandonedPolicy policy) {
        return policy(policy, List.of());
    }

    private static InDoubtPolicy policy(AbandonedPolicy policy, List<Class<? extends Throwable>> parkFor) {
        Reconciler reconciler =
                policy == AbandonedPolicy.RECONCILE ? (listener, scope, claim) -> Reconciliation.runAgain() : null;
        return new InDoubtPolicy(policy, reconciler, parkFor);
    }

    private static InDoubtPolicy reconciling(Reconciler reconciler) {
        return new InDoubtPolicy(AbandonedPolicy.RECONCILE, reconciler, List.of());
    }

    private ClaimId claimed() {
        return rig.store.claims().get(0).id();
    }

    private void assertReturned() {
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }
}
