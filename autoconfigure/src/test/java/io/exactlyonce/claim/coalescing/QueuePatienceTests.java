package io.exactlyonce.claim.coalescing;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.time.Timer;
import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Traps: a timer that is refused once is taken for one that is set; and its failure for one of a call that is on its way. */
class QueuePatienceTests {

    private static final Duration LONGEST = Duration.ofSeconds(3);

    private final FakeClock clock = new FakeClock();
    private final ClaimQueue queue = new ClaimQueue(new CoalescingSettings(1, 256, 10_000, LONGEST), clock);
    private final Deque<Runnable> set = new ArrayDeque<>();
    private boolean isRefused;

    private final Timer timer = (delay, task) -> {
        if (isRefused) {
            throw new RejectedExecutionException("no thread (simulated)");
        }
        set.add(task);
    };

    private final QueuePatience patience = new QueuePatience(queue, timer);

    private PendingCall<ClaimOutcome> waits() {
        PendingCall<ClaimOutcome> entry = PendingCall.of(request(newKey()), clock.nanoTime() + LONGEST.toNanos());
        queue.addAnyway(List.of(entry));
        patience.watch();
        return entry;
    }

    private static void assertRefused(PendingCall<?> entry) {
        assertThat(entry.shown()).isCompleted();
        assertThatThrownBy(entry::answer).isInstanceOf(ClaimStoreBusyException.class);
    }

    @Test
    void onlyWhatHasWaitedUntilItsDeadlineIsRefused() {
        PendingCall<ClaimOutcome> overdue = waits();
        clock.advance(Duration.ofNanos(1));
        PendingCall<ClaimOutcome> patient = waits();

        clock.advance(LONGEST.minusNanos(2));
        assertThat(queue.withdrawOverdue()).isEmpty();
        clock.advance(Duration.ofNanos(1));
        assertThat(queue.withdrawOverdue()).isEqualTo(List.of(overdue));
        assertThat(queue.withdraw(entry -> true)).isEqualTo(List.of(patient));
    }

    @Test
    void whatWaitsTooLongIsRefusedByTheOneTimerThatIsSet() {
        PendingCall<ClaimOutcome> first = waits();
        clock.advance(Duration.ofSeconds(2));
        PendingCall<ClaimOutcome> second = waits();
        assertThat(set).hasSize(1);

        clock.advance(Duration.ofSeconds(1));
        set.remove().run();

        assertRefused(first);
        assertThat(second.shown()).isNotDone();
        assertThat(set).as("for the second").hasSize(1);
    }

    /** A caller that is told of a failure releases the claim, and ends go before claims: it would be held for its whole lease. */
    @Test
    void callThatIsOnItsWayDoesNotFailForWantOfATimerAndTheNextCallSetsOne() {
        isRefused = true;
        PendingCall<ClaimOutcome> first = waits();
        assertThat(first.shown()).isNotDone();

        isRefused = false;
        PendingCall<ClaimOutcome> second = waits();
        assertThat(set).hasSize(1);
        clock.advance(LONGEST);
        set.remove().run();

        assertRefused(first);
        assertRefused(second);
    }

    @Test
    void whatIsOverdueIsRefusedAlthoughNoTimerCanBeSetForTheRest() {
        PendingCall<ClaimOutcome> first = waits();
        clock.advance(Duration.ofSeconds(2));
        waits();
        clock.advance(Duration.ofSeconds(1));
        isRefused = true;

        set.remove().run();

        assertRefused(first);
    }

    /** As when memory is used up: a future cannot keep what its dependent has thrown. */
    @Test
    void dependentThatFailsKeepsNoOtherCallFromItsRefusal() {
        PendingCall<ClaimOutcome> first = waits();
        PendingCall<ClaimOutcome> second = waits();
        var unused = first.shown().handle((answer, failure) -> {
            throw new UntoldException();
        });
        clock.advance(LONGEST);

        set.remove().run();

        assertRefused(first);
        assertRefused(second);
    }

    @Test
    void dependentThatFailsKeepsNoOtherCallFromItsRefusalByAStoreThatIsClosed() {
        PendingCall<ClaimOutcome> first = waits();
        PendingCall<ClaimOutcome> second = waits();
        var unused = first.shown().handle((answer, failure) -> {
            throw new UntoldException();
        });

        queue.refuseAll();

        assertRefused(second);
    }
}
