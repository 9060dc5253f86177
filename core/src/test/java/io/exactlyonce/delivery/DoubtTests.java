package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.pipeline.TypedReconciler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;

/** Tests each policy with each outcome of an attempt, as in the table of docs/contributing/decisions/0004-doubt.md. */
class DoubtTests {

    static final class CardExpired extends Exception {
        CardExpired() {
            super("expired");
        }
    }

    private interface Attempt {
        Object handle(DoubtTests test, Claim claim) throws Throwable;
    }

    /**
     * How an attempt ends, and the resolution that the engine records: first under {@code RERUN} and {@code RECONCILE},
     * then under {@code PARK}.
     */
    enum End {
        RETURNS("completed", "completed", (test, claim) -> "charged"),
        IS_STOPPED_AND_RETURNS("completed", "completed", (test, claim) -> {
            test.delivery.stopHandler();
            return "charged";
        }),
        THROWS_WHAT_KEYS_ARE_PARKED_FOR("parked", "parked", (test, claim) -> {
            throw new CardExpired();
        }),
        THROWS("released", "released", (test, claim) -> {
            throw new IOException("provider is down");
        }),
        THROWS_CAUSES_IN_A_CIRCLE("released", "released", (test, claim) -> {
            IOException refused = new IOException("connection refused");
            refused.initCause(new IllegalStateException("provider is down", refused));
            throw refused;
        }),
        THROWS_THE_LOSS_OF_ANOTHER_KEYS_CLAIM("released", "released", (test, claim) -> {
            throw new ClaimLostException("orders", "hash", 7, "the lease is over");
        }),
        RETURNS_WORK_THAT_MAY_CONTINUE(
                "released, in doubt", "parked, in doubt", (test, claim) -> List.of(new CompletableFuture<>())),
        IS_STOPPED_AND_THROWS("released, in doubt", "parked, in doubt", (test, claim) -> {
            test.delivery.stopHandler();
            assertThat(Thread.interrupted()).isTrue();
            throw new InterruptedException("stopped");
        }),
        IS_STOPPED_BY_THE_APPLICATION("released, in doubt", "parked, in doubt", (test, claim) -> {
            throw new IllegalStateException(new InterruptedException("stopped by the application"));
        }),
        FINDS_ITS_CHANNEL_CLOSED_BY_AN_INTERRUPT("released, in doubt", "parked, in doubt", (test, claim) -> {
            throw new UncheckedIOException(new ClosedByInterruptException());
        }),
        LEARNS_THAT_ITS_CLAIM_IS_LOST("released, in doubt", "parked, in doubt", (test, claim) -> {
            test.rig.clock.advance(Duration.ofSeconds(21));
            try {
                claim.ensureHeld();
            } catch (ClaimLostException lost) {
                throw new ExecutionException(lost);
            }
            return "charged";
        }),
        IS_STOPPED_AND_THROWS_WHAT_KEYS_ARE_PARKED_FOR("parked, in doubt", "parked, in doubt", (test, claim) -> {
            test.delivery.stopHandler();
            throw new CardExpired();
        });

        private final String recorded;
        private final String withPark;
        private final Attempt attempt;

        End(String recorded, String withPark, Attempt attempt) {
            this.recorded = recorded;
            this.withPark = withPark;
            this.attempt = attempt;
        }

        String recorded(InDoubtPolicy policy) {
            return policy == InDoubtPolicy.PARK ? withPark : recorded;
        }
    }

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    static Stream<Arguments> endOfAnAttemptDecidesOnItsKey() {
        return Stream.of(End.values())
                .flatMap(end -> Stream.of(InDoubtPolicy.values()).map(policy -> Arguments.of(end, policy)));
    }

    @ParameterizedTest
    @MethodSource
    void endOfAnAttemptDecidesOnItsKey(End end, InDoubtPolicy policy) {
        String expected = end.recorded(policy);

        Throwable thrown = failureOf(policy, claim -> end.attempt.handle(this, claim));

        assertThat(recorded()).isEqualTo(expected);
        assertThat(thrown == null).isEqualTo(expected.equals("completed"));
        assertThat(rig.parked).hasSize(expected.startsWith("parked") ? 1 : 0);
        assertThat(Stream.concat(rig.store.releases().stream(), rig.store.parkings().stream()))
                .as("an attempt that was stopped does not count as one that threw")
                .allMatch(resolution -> resolution.threw() != resolution.inDoubt());
        assertThat(rig.settle(delivery)).isEqualTo(expected.equals("completed"));
        assertThat(rig.returns()).isEqualTo(thrown == null ? List.of() : List.of(4));
    }

    /** Returns the recorded resolutions in the words of the table. */
    private String recorded() {
        List<String> ends = new ArrayList<>();
        rig.store.completions().forEach(resolution -> ends.add("completed"));
        rig.store.releases().forEach(resolution -> ends.add("released" + (resolution.inDoubt() ? ", in doubt" : "")));
        rig.store.parkings().forEach(resolution -> ends.add("parked" + (resolution.inDoubt() ? ", in doubt" : "")));
        return String.join("; ", ends);
    }

    @Test
    void reasonContainsWhetherTheHandlerWasStopped() {
        failureOf(InDoubtPolicy.PARK, claim -> {
            throw new InterruptedException("stopped");
        });
        failureOf(rig.receive(), InDoubtPolicy.PARK, claim -> {
            throw new CardExpired();
        });

        assertThat(rig.store.parkings())
                .extracting(ClaimResolution.Parked::reason)
                .containsExactly(
                        "stopped from outside: java.lang.InterruptedException: stopped",
                        CardExpired.class.getName() + ": expired");
    }

    @ParameterizedTest
    @EnumSource
    void attemptThatNeverBeganIsNoDoubtUnderAnyPolicy(InDoubtPolicy policy) {
        rig.store.onClaim(() -> {
            delivery.stopHandler();
            return new Acquired(1, 1, false);
        });

        rig.assertNotCalled(delivery, failureOf(policy, DeliveryRig::neverCalled));

        assertThat(rig.store.parkings()).isEmpty();
        assertThat(rig.store.claims())
                .extracting(ClaimRequest::inDoubt)
                .containsExactly(policy == InDoubtPolicy.PARK ? InDoubt.PARK : InDoubt.TAKE_OVER);
    }

    @Test
    void parkedClaimIsRenewedNoMoreAndAStoreThatDoesNotAnswerHidesNoException() {
        rig.store.onPark(requested -> {
            rig.tickFor(Duration.ofSeconds(12));
            throw new IllegalStateException("connection refused");
        });

        assertThat(failureOf(InDoubtPolicy.RERUN, claim -> {
                    throw new CardExpired();
                }))
                .isInstanceOf(CardExpired.class);

        assertThat(rig.store.parkings()).hasSize(2);
        assertThat(rig.store.renewals()).isEmpty();
        assertThat(rig.parked).containsExactly(DeliveryRig.KEY);
    }

    private Throwable failureOf(InDoubtPolicy policy, DeliveryRig.SingleHandler handler) {
        return failureOf(delivery, policy, handler);
    }

    private Throwable failureOf(Delivery received, InDoubtPolicy policy, DeliveryRig.SingleHandler handler) {
        Reconciler<String> reconciler = policy == InDoubtPolicy.RECONCILE ? attempt -> Reconciliation.runAgain() : null;
        InDoubtSettings doubt = new InDoubtSettings(policy, reconciler, List.of(CardExpired.class));
        return rig.failureOf(received, DeliveryRig.spec(doubt), handler);
    }

    @Test
    void keyWithoutADoubtIsNotReconciled() throws Throwable {
        Reconciler<String> never = attempt -> {
            throw new AssertionError("asked");
        };

        assertThat(rig.process(delivery, reconciling(never), claim -> "charged"))
                .isEqualTo("charged");
    }

    @Test
    void reconcilerGetsWhatIsInDoubtUnderTheRenewedClaim() throws Throwable {
        reconcile(
                attempt -> {
                    Claim claim = attempt.claim();
                    assertThat(attempt.listener()).isEqualTo("listener");
                    assertThat(claim.scope()).isEqualTo("orders");
                    assertThat(claim.key()).isEqualTo("A-1");
                    assertThat(claim.attempt()).isEqualTo(2);
                    assertThat(claim.isInDoubt()).isTrue();
                    rig.tickFor(Duration.ofSeconds(24));
                    claim.ensureHeld();
                    return Reconciliation.done(null);
                },
                DeliveryRig::neverCalled);

        assertThat(rig.store.renewals()).hasSize(2);
    }

    @Test
    void doneIsCompletedWithItsResultAndAcknowledged() throws Throwable {
        assertThat(reconcile(attempt -> Reconciliation.done("found"), DeliveryRig::neverCalled))
                .isEqualTo("found");

        rig.assertCompleted("\"found\"");
        assertThat(rig.handled).isEmpty();
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void reconcilerReadsTheMessageAndItsPayloadAsTheClassThatItIs() throws Throwable {
        delivery.attempt().carries(new io.exactlyonce.delivery.Attempt.SentContent() {
            @Override
            public String header(String name) {
                return null;
            }

            @Override
            public Message<?> message() {
                return MessageBuilder.withPayload("order A-1")
                        .setHeader("tenant", "a")
                        .build();
            }
        });

        reconcile(
                attempt -> {
                    assertThat(attempt.message().getHeaders()).containsEntry("tenant", "a");
                    assertThat(attempt.payload(String.class)).isEqualTo("order A-1");
                    assertThatIllegalArgumentException()
                            .isThrownBy(() -> attempt.payload(Integer.class))
                            .withMessageContaining("'listener' is a java.lang.String")
                            .withMessageContaining("requests a java.lang.Integer");
                    return Reconciliation.done();
                },
                DeliveryRig::neverCalled);

        assertThat(recorded()).isEqualTo("completed");
    }

    @Test
    void resultThatIsNotTheHandlersKeepsTheDoubt() {
        Reconciler<?> finding = attempt -> Reconciliation.done(7);

        assertThatThrownBy(() -> reconcile(
                        new TypedReconciler(finding, Message::getPayload, ResolvableType.forClass(String.class)),
                        DeliveryRig::neverCalled))
                .hasMessageContaining("'listener' answered done with a result that is or contains a java.lang.Integer")
                .hasMessageContaining("the handler returns java.lang.String");

        assertThat(recorded()).isEqualTo("released, in doubt");
        rig.assertReturned(delivery, 4);
    }

    /**
     * The lease expires while the reconciler looks, so another worker may own the key by now. The engine still sends
     * the completion, because the effect has happened. The store decides whether to record the completion.
     */
    @Test
    void doneIsCompletedAlsoWhenTheLeaseEndedWhileTheReconcilerRan() throws Throwable {
        reconcile(
                attempt -> {
                    rig.clock.advance(Duration.ofSeconds(25));
                    return Reconciliation.done("found");
                },
                DeliveryRig::neverCalled);

        rig.assertCompleted("\"found\"");
    }

    /** The measured time does not include the reconciler, because alerts on slow handlers use this time. */
    @Test
    void runAgainCallsTheHandlerWhoseTimeIsMeasuredAlone() throws Throwable {
        reconcile(
                attempt -> {
                    rig.clock.advance(Duration.ofSeconds(5));
                    return Reconciliation.runAgain();
                },
                claim -> {
                    assertThat(delivery.processed()).isNotDone();
                    rig.clock.advance(Duration.ofSeconds(2));
                    return "charged";
                });

        rig.assertCompleted("\"charged\"");
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(2));
    }

    @Test
    void parkIsParkedForItsReasonAndReturned() throws Throwable {
        assertThat(reconcile(attempt -> Reconciliation.park("two charges found"), DeliveryRig::neverCalled))
                .isNull();

        assertThat(rig.store.parkings())
                .containsExactly(new ClaimResolution.Parked(rig.claimed(), "two charges found", false));
        assertThat(recorded()).isEqualTo("parked");
        rig.assertReturned(delivery, 4);
    }

    static Stream<Arguments> reconcilerThatFailsKeepsTheDoubtAndIsNoReasonToPark() {
        Reconciler<String> failing = attempt -> {
            throw new CardExpired();
        };
        Reconciler<String> stopped = attempt -> {
            throw new InterruptedException("stopped");
        };
        Reconciler<String> silent = attempt -> null;
        return Stream.of(
                Arguments.of("The reconciler failed", failing),
                Arguments.of("InterruptedException: stopped", stopped),
                Arguments.of("The reconciler answered null", silent));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void reconcilerThatFailsKeepsTheDoubtAndIsNoReasonToPark(String told, Reconciler<String> reconciler) {
        assertThatThrownBy(() -> reconcile(reconciler, DeliveryRig::neverCalled))
                .hasMessageContaining(told);

        assertThat(recorded()).isEqualTo("released, in doubt");
        rig.assertReturned(delivery, 4);
    }

    @Test
    void handlerIsNotCalledWhenItsLeaseEndedWhileTheReconcilerRan() {
        assertNotCalledAfter(delivery, () -> rig.clock.advance(Duration.ofSeconds(25)));

        assertThat(rig.returns()).containsExactly(4);
    }

    /** The takeover interrupts the thread once, and the reconciler clears the interrupt. */
    @Test
    void handlerIsNotCalledWhenItsReconcilerSwallowedTheInterruptOfATakeover() {
        assertNotCalledAfter(delivery, () -> {
            rig.loseLease();
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    void handlerIsNotCalledWhenItsReconcilerDidNotNoticeTheInterrupt() {
        assertNotCalledAfter(delivery, delivery::stopHandler);
    }

    @Test
    void handlerIsNotCalledWhenItsTimeoutPassedWhileTheReconcilerRan() {
        assertNotCalledAfter(rig.receiveLimited(Duration.ofSeconds(5)), () -> {
            rig.tickFor(Duration.ofSeconds(6));
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    void handlerIsNotCalledWhenItsTimeoutPassedInAPauseThatIsNotNoticedYet() {
        assertNotCalledAfter(rig.receiveLimited(Duration.ofSeconds(5)), () -> rig.clock.advance(Duration.ofSeconds(6)));
    }

    @Test
    void messageIsVisibleAtOnceWhenItsListenerBeganToStopWhileTheReconcilerRan() {
        assertNotCalledAfter(delivery, () -> rig.deliveries().beginStop(rig.orders));

        assertThat(rig.returns()).containsExactly(0);
    }

    /** If the handler were not called, SQS would move the message to the dead-letter queue untried. */
    @Test
    void handlerOfALastReceiveIsCalledAlthoughItsListenerBeganToStopWhileTheReconcilerRan() throws Throwable {
        Delivery last = rig.receiveLast();

        reconcile(
                last,
                attempt -> {
                    rig.deliveries().beginStop(last.subscription());
                    return Reconciliation.runAgain();
                },
                claim -> "charged");

        assertThat(rig.settle(last)).isTrue();
    }

    /**
     * Asserts that the handler is not called after the event, and that the engine neither parks the key nor records a
     * second doubt. The earlier doubt stays in the store.
     */
    private void assertNotCalledAfter(Delivery received, Runnable event) {
        Reconciler<String> slow = attempt -> {
            event.run();
            return Reconciliation.runAgain();
        };

        rig.assertNotCalled(received, catchThrowable(() -> reconcile(received, slow, DeliveryRig::neverCalled)));

        assertThat(rig.store.parkings()).isEmpty();
    }

    private Object reconcile(Reconciler<?> reconciler, DeliveryRig.SingleHandler handler) throws Throwable {
        return reconcile(delivery, reconciler, handler);
    }

    private Object reconcile(Delivery received, Reconciler<?> reconciler, DeliveryRig.SingleHandler handler)
            throws Throwable {
        rig.store.answer(new Acquired(2, 2, true));
        return rig.process(received, reconciling(reconciler), handler);
    }

    private static ClaimSpec reconciling(Reconciler<?> reconciler) {
        return DeliveryRig.spec(new InDoubtSettings(InDoubtPolicy.RECONCILE, reconciler, List.of(Exception.class)));
    }
}
