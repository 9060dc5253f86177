package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.renewal.RenewalEvent.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Timeouts of handlers. The timeout is 45 s. The visibility timeout and the lease last 20 s, and are renewed every 10
 * s.
 */
@ExtendWith(OutputCaptureExtension.class)
class HandlerDeadlineTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(45);

    private final RenewalRig rig = RenewalRig.renewing().limiting(TIMEOUT);
    private final MessageVisibility visibility = rig.hold(20);

    @Test
    void handlerIsInterruptedOnceAtItsTimeoutFromItsBeginningAndNotBefore(CapturedOutput output) {
        rig.tickFor(Duration.ofSeconds(30));
        rig.limit(visibility);

        rig.tickFor(TIMEOUT.minus(Renewer.TICK));
        assertThat(rig.timesTimedOut).hasValue(0);
        rig.tickFor(Renewer.TICK);
        assertThat(rig.timesTimedOut).hasValue(1);
        rig.tickFor(Duration.ofMinutes(5));

        assertThat(rig.timesTimedOut).hasValue(1);
        assertThat(rig.timedOut).containsExactly(new RenewalEvent.TimedOut(visibility.subscription, RenewalRig.KEY));
        assertThat(output).contains("listener 'listener' on queue 'orders' runs longer than its timeout of 45000 ms");
    }

    /** Trap: a handler could still be called between its timeout and its interrupt. */
    @Test
    void timeIsOverBeforeTheHandlerIsInterruptedAndUntilItEnds() {
        List<Boolean> past = new ArrayList<>();
        visibility.startTimeout(RenewalRig.KEY, () -> past.add(visibility.isPastTimeout()));
        assertThat(visibility.isPastTimeout()).isFalse();

        rig.tickFor(TIMEOUT);
        past.add(visibility.isPastTimeout());
        visibility.cancelTimeout();

        assertThat(past).containsExactly(true, true);
        assertThat(visibility.isPastTimeout()).isFalse();
    }

    /**
     * If some messages of a batch fail, its transaction is rolled back, and the handler is called again with the other
     * messages.
     */
    @Test
    void eachCallOfTheHandlerHasTheWholeTime() {
        rig.limit(visibility);
        rig.tickFor(Duration.ofSeconds(40));

        rig.limit(visibility);
        rig.tickFor(TIMEOUT.minus(Renewer.TICK));
        assertThat(rig.timesTimedOut).hasValue(0);

        rig.tickFor(Renewer.TICK);
        assertThat(rig.timesTimedOut).hasValue(1);
    }

    /** A handler that ignores the interrupt keeps its key until the lease expires, and no longer. */
    @Test
    void nothingIsRenewedAfterTheTimeoutButTheClaimIsHeldUntilItsLeaseEnds() {
        rig.limit(visibility);
        rig.tickFor(TIMEOUT);
        assertThat(rig.queue.requests()).hasSize(4);
        assertThat(rig.store.renewals()).hasSize(4);

        rig.tickFor(Duration.ofMillis(13_900));
        assertThat(visibility.isHeld()).isTrue();
        assertThat(rig.timesLost).hasValue(0);

        rig.tickFor(Duration.ofMinutes(2));
        assertThat(visibility.isHeld()).isFalse();
        assertThat(rig.timesLost).hasValue(1);
        assertThat(rig.leaseResults).last().isEqualTo(Result.LOST);
        assertThat(rig.visibilityResults).last().isEqualTo(Result.LOST);
        assertThat(rig.queue.requests()).hasSize(4);
        assertThat(rig.store.renewals()).hasSize(4);
    }

    @Test
    void lateHandlerIsCompletedAndAcknowledgedUnderRenewal() {
        rig.limit(visibility);
        rig.tickFor(TIMEOUT.plusSeconds(6));
        assertThat(rig.store.renewals()).hasSize(4);

        visibility.completing();
        rig.tickFor(Duration.ofSeconds(60));

        assertThat(rig.store.renewals()).hasSizeGreaterThan(8);
        assertThat(rig.queue.requests()).hasSizeGreaterThan(8);
        assertThat(visibility.isHeld()).isTrue();
        assertThat(rig.timesLost).hasValue(0);
    }

    static Stream<Consumer<MessageVisibility>> handlerThatEndedInTimeIsNotInterrupted() {
        return Stream.of(MessageVisibility::completing, MessageVisibility::stopLeaseRenewal, MessageVisibility::stop);
    }

    @ParameterizedTest
    @MethodSource
    void handlerThatEndedInTimeIsNotInterrupted(Consumer<MessageVisibility> end) {
        rig.limit(visibility);
        rig.tickFor(Duration.ofSeconds(40));

        end.accept(visibility);
        assertThat(rig.renewer.deadlines).isEmpty();
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.timesTimedOut).hasValue(0);
        assertThat(rig.timedOut).isEmpty();
    }

    /**
     * One tick finds two handlers past their timeout. The interrupt of one handler also ends the other, as in a batch.
     */
    @Test
    void handlerThatEndsWhileATickInterruptsAnotherIsNotInterrupted() {
        MessageVisibility other = rig.start("other", 20);
        AtomicInteger told = new AtomicInteger();
        visibility.startTimeout(RenewalRig.KEY, () -> {
            told.incrementAndGet();
            other.cancelTimeout();
        });
        other.startTimeout(RenewalRig.KEY, () -> {
            told.incrementAndGet();
            visibility.cancelTimeout();
        });

        rig.tickFor(TIMEOUT.plusSeconds(10));

        assertThat(told).hasValue(1);
        assertThat(rig.timedOut).hasSize(1);
    }

    /** A listener that stops may return a message just before the handler would start. */
    @Test
    void handlerWhoseDeliveryHasEndedBeforeItBeginsIsNotInterrupted() {
        visibility.stop();

        rig.limit(visibility);
        rig.tickFor(TIMEOUT.plusSeconds(10));

        assertThat(rig.timesTimedOut).hasValue(0);
        assertThat(rig.timedOut).isEmpty();
    }

    @Test
    void lossBeforeTheTimeoutIsReportedAsALoss() {
        rig.limit(visibility);
        rig.store.onRenew(requested -> Set.of());

        rig.tickFor(Duration.ofSeconds(20));

        assertThat(rig.timesLost).hasValue(1);
        assertThat(rig.lostKeys).containsExactly(new ClaimKey("orders", "A-1"));
        assertThat(rig.timesTimedOut).hasValue(0);
    }
}
