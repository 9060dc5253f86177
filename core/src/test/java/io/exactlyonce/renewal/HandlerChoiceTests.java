package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.ScriptedQueue.LateAnswer;
import io.exactlyonce.renewal.RenewalEvent.Result;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Handlers that change the visibility timeout themselves. The listener's timeout is 30 s, and is renewed every 15 s.
 */
@ExtendWith(OutputCaptureExtension.class)
class HandlerChoiceTests {

    private static final Duration LONG = Duration.ofMinutes(5);

    private final RenewalRig rig = RenewalRig.renewing();
    private final MessageVisibility visibility = rig.hold(30);
    private final AtomicInteger sent = new AtomicInteger();

    private CompletableFuture<Void> choose(Duration wanted) {
        return visibility.choose(wanted, () -> {
            sent.incrementAndGet();
            return CompletableFuture.completedFuture(null);
        });
    }

    /** Chooses a visibility timeout. The queue answers when the test completes the returned future. */
    private CompletableFuture<Void> chooseLater(Duration wanted) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        visibility.choose(wanted, () -> answer);
        return answer;
    }

    /** Trap: a renewal overwrote a longer visibility that the handler had set. */
    @Test
    void longerVisibilityIsNotShortenedByARenewal() {
        rig.tickFor(Duration.ofSeconds(10));
        assertThat(choose(LONG)).isCompleted();
        assertThat(sent).hasValue(1);

        assertThat(rig.millisOfRequests(Duration.ofSeconds(300))).containsExactly(285_000L, 300_000L);

        assertThat(rig.queue.changes()).containsOnly(new Change("handle", 30));
        assertThat(rig.visibilityResults).containsOnly(Result.SUCCEEDED);
        assertThat(visibility.isHeld()).as("the lease is renewed all the same").isTrue();
    }

    @Test
    void shorterVisibilityLastsUntilItsHalf() {
        choose(Duration.ofSeconds(10));

        assertThat(rig.millisOfRequests(Duration.ofSeconds(15))).containsExactly(5_000L);
        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 30));
    }

    @Test
    void longerVisibilityIsNotShortenedByAReturn() {
        choose(LONG);

        RenewalRig.returnAfter(visibility, Duration.ofSeconds(5));

        assertThat(rig.queue.requests()).isEmpty();
    }

    @Test
    void renewalEndsTheHandlersChoice() {
        choose(Duration.ofSeconds(60));
        rig.tickFor(Duration.ofSeconds(45));
        assertThat(rig.queue.requests()).hasSize(1);

        RenewalRig.returnAfter(visibility, Duration.ZERO);

        assertThat(rig.queue.changes()).last().isEqualTo(new Change("handle", 0));
    }

    /** Another consumer may receive the message once the visibility timeout has expired. */
    @Test
    void choiceThatFailsAfterItsVisibilityTimeoutWasLostDoesNotBringTheVisibilityTimeoutBack() {
        CompletableFuture<Void> answer = chooseLater(LONG);
        rig.tickFor(Duration.ofSeconds(31));
        assertThat(rig.visibilityResults).containsExactly(Result.LOST);

        answer.completeExceptionally(new IllegalStateException("throttled"));
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.visibilityResults).containsExactly(Result.LOST);
        assertThat(rig.queue.requests()).isEmpty();
    }

    /** The handler chose to make the message visible at once, so no loss is reported. */
    @Test
    void zeroEndsTheRenewalAndIsNoLoss(CapturedOutput output) {
        choose(Duration.ZERO);

        rig.tickFor(Duration.ofMinutes(1));
        assertThat(visibility.isInvisible()).isFalse();
        assertThat(visibility.isHeld()).isTrue();
        RenewalRig.returnAfter(visibility, Duration.ofSeconds(9));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.visibilityResults).isEmpty();
        assertThat(output).doesNotContain("is lost");
        assertThat(rig.timesLost).hasValue(0);
    }

    /** An error handler may change the visibility after the attempt has ended. */
    @Test
    void zeroThatIsAnsweredAfterTheDeliverysEndIsNotOverwrittenByAReturn() {
        CompletableFuture<Void> answer = chooseLater(Duration.ZERO);
        RenewalRig.returnAfter(visibility, Duration.ofSeconds(5));

        answer.complete(null);

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.visibilityResults).isEmpty();
    }

    /** The answer arrives during one tick: after {@code isDue} and before {@code attempt}. */
    @Test
    void shorterVisibilityThatIsConfirmedAfterItsEndIsNotRenewed() {
        CompletableFuture<Void> answer = chooseLater(Duration.ofSeconds(1));
        rig.clock.advance(Duration.ofSeconds(2));
        long now = rig.clock.nanoTime();
        visibility.expire(now);
        assertThat(visibility.isDue(now)).isFalse();

        answer.complete(null);

        assertThat(visibility.attempt(now)).isFalse();
    }

    @Test
    void choiceWaitsForARenewalInProgressWhichWouldOverwriteIt() {
        LateAnswer late = rig.queue.answerLater();
        rig.tickFor(Duration.ofSeconds(15));

        CompletableFuture<Void> chosen = choose(LONG);
        assertThat(sent).hasValue(0);
        assertThat(chosen).isNotDone();

        late.give(QueueVisibility.Result.CHANGED);
        assertThat(chosen).isCompleted();
        assertThat(sent).hasValue(1);
        rig.tickFor(Duration.ofMinutes(4));
        assertThat(rig.queue.requests()).hasSize(1);
    }

    @Test
    void renewalAndReturnWaitForAChoiceInProgress() {
        CompletableFuture<Void> answer = chooseLater(Duration.ofSeconds(40));
        rig.tickFor(Duration.ofSeconds(20));
        RenewalRig.returnAfter(visibility, Duration.ofSeconds(50));
        assertThat(rig.queue.requests()).isEmpty();

        answer.complete(null);

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 50));
    }

    @Test
    void choiceThatFailedChangesNothing() {
        IllegalStateException refused = new IllegalStateException("refused");
        assertThat(visibility.choose(Duration.ZERO, () -> CompletableFuture.failedFuture(refused)))
                .isCompletedExceptionally();
        assertThat(visibility.choose(LONG, () -> {
                    throw refused;
                }))
                .isCompletedExceptionally();

        rig.tickFor(Duration.ofSeconds(15));

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 30));
        assertThat(visibility.isInvisible()).isTrue();
    }

    /**
     * The receipt handle still works after the deadline, so a late choice would hide or expose the next consumer's
     * message.
     */
    @Test
    void choiceIsRefusedPastTheDeadlineAndAfterTheDeliverysEnd() {
        rig.clock.advance(Duration.ofSeconds(30));
        assertThatThrownBy(() -> choose(LONG).join()).hasMessageContaining("its visibility timeout has expired");

        MessageVisibility ended = rig.start(30);
        ended.stop();
        assertThat(ended.choose(LONG, () -> CompletableFuture.completedFuture(null)))
                .isCompletedExceptionally();

        assertThat(sent).hasValue(0);
    }
}
