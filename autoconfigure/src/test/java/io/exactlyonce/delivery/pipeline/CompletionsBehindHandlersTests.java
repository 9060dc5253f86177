package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.renewal.RenewalObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** How a handler ended is recorded after its thread has gone, and acted on after that. */
@ExtendWith(OutputCaptureExtension.class)
class CompletionsBehindHandlersTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();
    private final List<Runnable> asked = new ArrayList<>();

    /** From the handler's end on: claims are answered at once. */
    private void askLater() {
        rig.whenHandled = () -> rig.storeThreads = asked::add;
    }

    private void answerAll() {
        List<Runnable> due = List.copyOf(asked);
        asked.clear();
        due.forEach(Runnable::run);
    }

    @Test
    void handlersThreadDoesNotWaitAndNothingIsDeletedBeforeTheCompletionIsRecorded() throws Throwable {
        askLater();

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");
        assertThat(delivery.state()).isEqualTo(DeliveryState.HANDLED);
        assertThat(delivery.left()).isNotDone();

        answerAll();

        assertThat(delivery.left()).isDone();
        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void failedHandlersMessageIsReturnedOnlyWhenItsKeyIsReleased() {
        askLater();

        assertThatThrownBy(() -> rig.process(delivery, claim -> {
                    throw new IOException("down");
                }))
                .isInstanceOf(IOException.class);
        assertThat(delivery.left()).isNotDone();
        answerAll();

        assertThat(delivery.left()).isDone();
        rig.deliveries().settle(delivery);
        assertThat(rig.returns()).hasSize(1);
    }

    @Test
    void completionWhoseReplyIsLostIsRepeatedWithoutAThreadUntilItIsAnswered() throws Throwable {
        rig.timer.hold();
        for (int lost = 0; lost < 3; lost++) {
            rig.store.onComplete(requested -> {
                throw new IllegalStateException("connection reset");
            });
        }

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");
        rig.timer.run();
        rig.timer.run();
        assertThat(delivery.left()).isNotDone();
        rig.timer.run();

        assertThat(rig.store.completions()).hasSize(4).containsOnly(new ClaimEnd.Completed(claimed(), "\"charged\""));
        assertThat(rig.timer.delays())
                .hasSize(3)
                .allMatch(delay -> delay.toMillis() >= 50 && delay.toMillis() <= 2_100);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void windowAndLeaseAreRenewedForAsLongAsTheCompletionIsUnanswered() throws Throwable {
        rig.timer.hold();
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused");
        });
        rig.process(delivery, claim -> "charged");

        rig.tickFor(Duration.ofMinutes(2));
        assertThat(rig.store.renewals()).hasSizeGreaterThan(5);
        assertThat(delivery.window().isInvisible()).isTrue();
        rig.timer.run();

        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
    }

    /** The handler has ended, and its result is recorded in the end: nothing is lost. */
    @Test
    void leaseThatEndsWhileItsCompletionIsUnansweredIsNoLostClaim(CapturedOutput output) throws Throwable {
        rig.timer.hold();
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused");
        });
        rig.process(delivery, claim -> "charged");
        for (int renewal = 0; renewal < 10; renewal++) {
            rig.store.onRenew(requested -> {
                throw new IllegalStateException("connection refused");
            });
        }

        rig.tickFor(Duration.ofSeconds(40));
        assertThat(delivery.window().isHeld()).isFalse();
        rig.timer.run();

        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
        assertThat(rig.claimsLost).isEmpty();
        assertThat(rig.renewalsOfLeases).doesNotContain(RenewalObserver.Result.LOST);
        assertThat(output.getAll())
                .containsOnlyOnce("is over, and the completion of its claim is not answered yet")
                .doesNotContain("its handler is interrupted");
    }

    @Test
    void completionThatIsUnansweredWhileItsListenerStopsIsGivenUpAndLeftToItsLease() throws Throwable {
        rig.timer.hold();
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused");
        });
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused again");
        });
        rig.process(delivery, claim -> "charged");
        delivery.abandon();

        rig.timer.run();

        assertThat(delivery.left()).isDone();
        assertThat(rig.store.completions()).hasSize(2);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).isEmpty();
    }

    @Test
    void completionThatIsAnsweredWhileItsListenerStopsIsDeleted() throws Throwable {
        askLater();
        rig.process(delivery, claim -> "charged");
        rig.deliveries().beginStop(rig.orders);
        answerAll();

        rig.deliveries().endStop(rig.orders);

        assertThat(rig.deleted).containsExactly(delivery);
    }

    private ClaimId claimed() {
        return rig.store.claims().get(0).id();
    }
}
