package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HandlerStageTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void handlerThatLeavesItsThreadInterruptedIsCompletedAllTheSame() throws Throwable {
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused");
        });
        Delivery delivery = rig.receive();

        rig.process(delivery, claim -> {
            Thread.currentThread().interrupt();
            return "done";
        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(rig.store.completions()).hasSize(2);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void handlersExceptionReleasesTheClaimAndReturnsTheDelivery() {
        IOException failure = new IOException("payment provider is down");

        assertThatThrownBy(() -> rig.process(delivery, claim -> {
                    rig.clock.advance(Duration.ofSeconds(2));
                    throw failure;
                }))
                .isSameAs(failure)
                .hasNoSuppressedExceptions();

        assertThat(rig.store.releases())
                .containsExactly(
                        new ClaimEnd.Released(claimed(), "java.io.IOException: payment provider is down", false));
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(2));
        assertThat(rig.handlerScopes).containsExactly("left", "ended: " + failure);
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void releaseThatFailsHidesNoException() {
        for (int attempt = 0; attempt < 3; attempt++) {
            rig.store.onRelease(requested -> {
                throw new IllegalStateException("connection refused");
            });
        }

        assertThatThrownBy(() -> rig.process(delivery, claim -> {
                    throw new IOException("payment provider is down");
                }))
                .isInstanceOf(IOException.class);

        assertThat(rig.store.releases()).as("until it is answered").hasSize(4);
    }

    @Test
    void releasedClaimIsRenewedNoMore() {
        rig.store.onRelease(requested -> {
            rig.clock.advance(Duration.ofSeconds(12));
            rig.renewer.tick();
            return requested;
        });

        assertThatThrownBy(() -> rig.process(delivery, claim -> {
                    throw new IOException("payment provider is down");
                }))
                .isInstanceOf(IOException.class);

        assertThat(rig.store.releases()).hasSize(1);
        assertThat(rig.store.renewals()).isEmpty();
    }

    @Test
    void completionIsRetriedUnderRenewalWhileTheStoreIsAway() throws Throwable {
        rig.store.onComplete(requested -> {
            rig.clock.advance(Duration.ofSeconds(12));
            rig.renewer.tick();
            throw new IllegalStateException("connection refused");
        });

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");

        assertThat(rig.store.completions()).hasSize(2).containsOnly(new ClaimEnd.Completed(claimed(), "\"charged\""));
        assertThat(rig.store.renewals()).hasSize(1);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void completionIsGivenUpWhenTheDeliveryIsAbandoned() throws Throwable {
        rig.store.onComplete(requested -> {
            delivery.abandon();
            throw new IllegalStateException("connection refused");
        });

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");

        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).isEmpty();
    }

    @Test
    void refusedCompletionLosesTheClaim() throws Throwable {
        rig.store.onComplete(requested -> Set.of());

        rig.process(delivery, claim -> "charged");

        assertThat(rig.lost).containsExactly(rig.orders);
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void leaseThatEndedWithoutATakeoverIsCompleted() throws Throwable {
        rig.process(delivery, claim -> {
            rig.clock.advance(Duration.ofMinutes(10));
            return "charged";
        });

        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void resultThatCannotBeWrittenIsCompletedWithout() throws Throwable {
        rig.writing(result -> {
            throw new IllegalStateException("no serializer");
        });

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");

        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), null));
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void resultThatContainsItselfIsCompletedWithout() throws Throwable {
        rig.writing(result -> {
            throw new StackOverflowError();
        });

        rig.process(delivery, claim -> "charged");

        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), null));
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void resultThatTheStoreRefusesIsCompletedWithout() throws Throwable {
        rig.store.onComplete(requested -> {
            throw new IllegalArgumentException("result is too large");
        });

        rig.process(delivery, claim -> "charged");

        assertThat(rig.store.completions())
                .containsExactly(
                        new ClaimEnd.Completed(claimed(), "\"charged\""), new ClaimEnd.Completed(claimed(), null));
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void absentResultIsNotWritten() throws Throwable {
        rig.process(delivery, claim -> null);

        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), null));
    }

    @Test
    void lostClaimInterruptsItsHandlerOnceAndIsReleasedAsAmbiguous() {
        assertThatThrownBy(() -> rig.process(delivery, claim -> {
                    rig.loseLease();
                    assertThat(Thread.interrupted()).isTrue();
                    assertThatThrownBy(claim::ensureHeld).isInstanceOf(ClaimLostException.class);
                    rig.loseLease();
                    delivery.stopHandler();
                    assertThat(Thread.interrupted()).isFalse();
                    throw new InterruptedException("stopped");
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
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

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(rig.store.completions()).hasSize(1);
    }

    @Test
    void interruptAfterTheHandlerDoesNotReachItsThread() throws Throwable {
        rig.store.onComplete(requested -> {
            rig.loseLease();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return requested;
        });

        rig.process(delivery, claim -> "charged");

        assertThat(rig.store.renewals()).hasSize(1);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void interruptOfTheApplicationIsLeftToIt() throws Throwable {
        rig.process(delivery, claim -> {
            Thread.currentThread().interrupt();
            return "charged";
        });

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void handlerThatTimesOutIsInterruptedOnceAndItsClaimReleasedOnlyAfterItStopped() {
        Delivery limited = receiveLimited();

        assertThatThrownBy(() -> rig.process(limited, claim -> {
                    rig.tickFor(TIMEOUT);
                    assertThat(Thread.interrupted()).isTrue();
                    claim.ensureHeld();
                    rig.tickFor(Duration.ofSeconds(2));
                    assertThat(Thread.interrupted()).isFalse();
                    assertThat(rig.store.releases()).isEmpty();
                    throw new InterruptedException("stopped");
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(rig.store.releases())
                .singleElement()
                .satisfies(release -> assertThat(release.ambiguous()).isTrue());
        assertThat(rig.deliveries().settle(limited)).isFalse();
        assertThat(rig.returns()).last().isEqualTo(4);
    }

    /** Interruption is advice. */
    @Test
    void handlerThatIgnoresItsTimeoutIsCompletedIfNoWorkerTookTheKeyOver() throws Throwable {
        Delivery limited = receiveLimited();

        rig.process(limited, claim -> {
            rig.tickFor(TIMEOUT.plusMinutes(2));
            assertThatThrownBy(claim::ensureHeld).isInstanceOf(ClaimLostException.class);
            return "charged";
        });

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.deliveries().settle(limited)).isTrue();
    }

    @Test
    void handlerThatIgnoresItsTimeoutIsDiscardedIfAnotherWorkerTookTheKeyOver() throws Throwable {
        Delivery limited = receiveLimited();
        rig.store.onComplete(requested -> Set.of());

        rig.process(limited, claim -> {
            rig.tickFor(TIMEOUT.plusMinutes(2));
            return "charged";
        });

        assertThat(rig.lost).hasSize(1);
        assertThat(rig.deliveries().settle(limited)).isFalse();
        assertThat(rig.store.releases()).isEmpty();
    }

    /** Its completion may take long, and does not count for the timeout. */
    @Test
    void timeoutAfterTheHandlerInterruptsNothing() throws Throwable {
        Delivery limited = receiveLimited();
        rig.store.onComplete(requested -> {
            rig.tickFor(TIMEOUT.plusMinutes(1));
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return requested;
        });

        rig.process(limited, claim -> "charged");

        assertThat(rig.store.renewals()).hasSizeGreaterThan(5);
        assertThat(rig.deliveries().settle(limited)).isTrue();
    }

    private Delivery receiveLimited() {
        return rig.receiveLimited(TIMEOUT);
    }

    @Test
    void handlerIsNotCalledWhenItsListenerStoppedMeanwhile() {
        rig.store.onClaim(() -> {
            delivery.abandon();
            return new Acquired(1, 1, false);
        });

        assertNotCalled();
    }

    @Test
    void handlerIsNotCalledWhenAPauseUsedUpItsLease() {
        rig.store.onClaim(() -> {
            rig.clock.advance(Duration.ofSeconds(20));
            return new Acquired(1, 1, false);
        });

        assertNotCalled();
    }

    private void assertNotCalled() {
        assertThatThrownBy(() -> rig.process(delivery, DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("before the handler was called");

        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(claimed(), "the handler was not called", false));
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.handled).isEmpty();
    }

    @Test
    void completionIsRecordedWithoutAResultWhoseClassCannotBeLoaded() throws Throwable {
        rig.writing(result -> {
            throw new NoClassDefFoundError("result");
        });

        rig.process(delivery, claim -> "charged");

        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), null));
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void fenceAsksTheStoreForThisClaimAlsoWhenTheLeaseSeemsOver() throws Throwable {
        rig.store.onFence(claimed -> claimed.equals(claimed()));

        rig.process(delivery, claim -> {
            rig.clock.advance(Duration.ofMinutes(10));
            claim.fence();
            return null;
        });

        assertThat(rig.store.completions()).hasSize(1);
    }

    @Test
    void fenceOfAClaimThatDoesNotHoldItsKeyThrows() {
        rig.store.onFence(claimed -> false);

        assertThatThrownBy(() -> rig.process(delivery, claim -> {
                    claim.fence();
                    return null;
                }))
                .isInstanceOf(ClaimLostException.class)
                .hasMessageContaining("does not hold its key any more");
    }

    private ClaimId claimed() {
        return rig.store.claims().get(0).id();
    }
}
