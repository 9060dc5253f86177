package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ClaimLostException;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.QueueVisibility.Change;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The handler of one delivery. The tests check the recorded outcome, and the events that stop the handler. */
class HandlerStageTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void handlersExceptionReleasesTheClaimAndReturnsTheDelivery() {
        IOException failure = new IOException("payment provider is down");

        assertThat(rig.failureOf(delivery, claim -> {
                    rig.clock.advance(Duration.ofSeconds(2));
                    throw failure;
                }))
                .isSameAs(failure)
                .hasNoSuppressedExceptions();

        rig.assertReleased("java.io.IOException: payment provider is down");
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(2));
        assertThat(rig.handlerScopes).containsExactly("left", "ended: " + failure);
        rig.assertReturned(delivery, 4);
    }

    /** A method that was not called had no effect, whatever stopped its advice. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void adviceThatIsStoppedBeforeItCallsTheMethodLeavesNoDoubt(boolean isParked) {
        IOException failure = new IOException("no permission");
        InDoubtSettings policy =
                new InDoubtSettings(InDoubtPolicy.PARK, null, isParked ? List.of(IOException.class) : List.of());
        DeliveryRig.asking(delivery, DeliveryRig.spec(policy));

        assertThatThrownBy(() -> DeliveryRig.process(rig.pipeline(), List.of(delivery), called -> {
                    delivery.call().awaitWork();
                    delivery.call().stop();
                    throw failure;
                }))
                .isSameAs(failure);

        String reason = "the handler was not called: java.io.IOException: no permission";
        assertThat(rig.store.parkings())
                .isEqualTo(isParked ? List.of(new ClaimResolution.Parked(rig.claimed(), reason, false)) : List.of());
        assertThat(rig.store.releases())
                .isEqualTo(isParked ? List.of() : List.of(new ClaimResolution.Released(rig.claimed(), reason, false)));
    }

    @Test
    void adviceThatAnswersForAMethodThatWasRefusedCompletesNothing() {
        ClaimLostException refusal = new ClaimLostException("orders", "0", 1, "its lease has expired");

        DeliveryRig.asking(delivery);

        assertThatThrownBy(() -> DeliveryRig.process(rig.pipeline(), List.of(delivery), called -> {
                    delivery.call().awaitWork();
                    delivery.call().refuse(refusal);
                    return "a fallback";
                }))
                .isSameAs(refusal);

        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.store.releases()).hasSize(1);
    }

    @Test
    void releaseThatFailsHidesNoException() {
        rig.store.onRelease(requested -> {
            rig.tickFor(Duration.ofSeconds(12));
            throw new IllegalStateException("connection refused");
        });
        rig.store.loseFailures(2);

        rig.fail(delivery, new IOException("payment provider is down"));

        assertThat(rig.store.releases()).as("until it is answered").hasSize(4);
        assertThat(rig.store.renewals()).as("of what is released").isEmpty();
    }

    @Test
    void refusedCompletionLosesTheClaim() throws Throwable {
        rig.store.onComplete(requested -> Set.of());

        rig.process(delivery, claim -> "charged");

        assertThat(rig.lost).containsExactly(rig.orders);
        assertThat(rig.store.releases()).isEmpty();
        rig.assertReturned(delivery);
        assertThat(rig.renewer.renewedCount()).isZero();
    }

    @Test
    void leaseThatEndedWithoutATakeoverIsCompleted() throws Throwable {
        rig.process(delivery, claim -> {
            rig.clock.advance(Duration.ofMinutes(10));
            return "charged";
        });

        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.settle(delivery)).isTrue();
    }

    static Stream<Throwable> resultThatCannotBeWrittenIsCompletedWithout() {
        return Stream.of(new IllegalStateException("no serializer"), new StackOverflowError("it contains itself"));
    }

    @ParameterizedTest
    @MethodSource
    void resultThatCannotBeWrittenIsCompletedWithout(Throwable thrown) throws Throwable {
        rig.writing(result -> {
            throw DeliveryRig.<RuntimeException>sneaked(thrown);
        });

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");

        rig.assertCompleted(null);
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void resultThatTheStoreRefusesIsCompletedWithout() throws Throwable {
        rig.store.onComplete(requested -> {
            throw new IllegalArgumentException("result is too large");
        });

        rig.process(delivery, claim -> "charged");

        assertThat(rig.store.completions())
                .extracting(ClaimResolution.Completed::result)
                .containsExactly("\"charged\"", null);
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void lostClaimInterruptsItsHandlerOnceAndIsReleasedInDoubt() {
        assertThat(rig.failureOf(delivery, claim -> {
                    rig.loseLease();
                    assertThat(Thread.interrupted()).isTrue();
                    assertThatThrownBy(claim::ensureHeld).isInstanceOf(ClaimLostException.class);
                    rig.loseLease();
                    delivery.stopHandler();
                    assertThat(Thread.interrupted()).isFalse();
                    throw new InterruptedException("stopped");
                }))
                .isInstanceOf(InterruptedException.class);

        rig.assertReleasedInDoubt();
        assertThat(rig.store.completions()).isEmpty();
    }

    @Test
    void interruptThatTheHandlerDidNotNoticeReachesNeitherTheStoreNorTheNextDelivery() throws Throwable {
        rig.store.onComplete(requested -> {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return Set.of();
        });

        rig.process(delivery, claim -> {
            rig.loseLease();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            return "charged";
        });

        assertThat(rig.lost).hasSize(1);
        assertThat(rig.store.completions()).hasSize(1);
    }

    @Test
    void leaseThatIsLostAfterTheHandlerInterruptsNothingAndIsNoLoss() throws Throwable {
        rig.store.onComplete(requested -> {
            rig.loseLease();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return requested;
        });

        rig.process(delivery, claim -> "charged");

        assertThat(rig.store.renewals()).hasSize(1);
        assertThat(delivery.mayHandlerBegin()).isTrue();
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void interruptOfTheApplicationIsLeftToItAndKeepsNothingFromBeingCompleted() throws Throwable {
        rig.store.loseCompletions(1);

        rig.process(delivery, claim -> {
            Thread.currentThread().interrupt();
            return "charged";
        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(rig.store.completions()).hasSize(2);
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void handlerThatTimesOutIsInterruptedOnceAndItsClaimReleasedOnlyAfterItStopped() {
        Delivery limited = rig.receiveLimited(TIMEOUT);

        assertThat(rig.failureOf(limited, claim -> {
                    rig.tickFor(TIMEOUT);
                    assertThat(Thread.interrupted()).isTrue();
                    claim.ensureHeld();
                    rig.tickFor(Duration.ofSeconds(12));
                    assertThat(Thread.interrupted()).isFalse();
                    assertThat(rig.store.releases()).isEmpty();
                    throw new InterruptedException("stopped");
                }))
                .isInstanceOf(InterruptedException.class);

        rig.assertReleasedInDoubt();
        assertThat(rig.settle(limited)).isFalse();
        assertThat(rig.queue.changes())
                .as("only the other message is renewed")
                .containsExactly(new Change("handle", 30), new Change("limited handle", 4));
    }

    /** The time of the completion does not count towards the handler's timeout. */
    @Test
    void timeoutAfterTheHandlerInterruptsNothing() throws Throwable {
        Delivery limited = rig.receiveLimited(TIMEOUT);
        rig.store.onComplete(requested -> {
            rig.tickFor(TIMEOUT.plusMinutes(1));
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return requested;
        });

        rig.process(limited, claim -> "charged");

        assertThat(rig.timedOut).isEmpty();
        assertThat(rig.store.renewals()).hasSizeGreaterThan(5);
        assertThat(rig.settle(limited)).isTrue();
    }

    @Test
    void handlerIsNotCalledWhenAPauseUsedUpItsLease() {
        rig.store.onClaim(() -> {
            rig.clock.advance(Duration.ofSeconds(20));
            return new Acquired(1, 1, false);
        });

        rig.assertNotCalled(delivery, rig.failureOf(delivery, DeliveryRig::neverCalled));
    }

    @Test
    void fenceChecksThisClaimAtTheStoreAlsoWhenTheLeaseSeemsOver() throws Throwable {
        rig.store.onFence(claimed -> claimed.equals(rig.claimed()));

        rig.process(delivery, claim -> {
            rig.clock.advance(Duration.ofMinutes(10));
            claim.fence();
            return null;
        });

        rig.assertCompleted(null);
    }

    @Test
    void fenceOfAClaimThatDoesNotHoldItsKeyThrows() {
        rig.store.onFence(claimed -> false);

        assertThat(rig.failureOf(delivery, claim -> {
                    claim.fence();
                    return null;
                }))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("no longer holds its key");
    }
}
