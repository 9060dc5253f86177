package io.exactlyonce.claim.groupcommit;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.groupcommit.CommitQueue.QueuedCall;
import io.exactlyonce.claim.groupcommit.GroupCommitRig.Caller;
import io.exactlyonce.queue.FakeClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests when a flusher takes a batch, which calls share it, and which calls have waited for too long. */
@Timeout(60)
class CommitQueueTests {

    private static final int MOST = 64;

    /** An eighth of a full batch. */
    private static final int MUCH = 8;

    private final FakeClock clock = new FakeClock();
    private final CommitQueue queue = new CommitQueue(new GroupCommitSettings(2, MOST, Duration.ofSeconds(30)), clock);
    private final ClaimRequest claim = request(newKey());

    @AfterEach
    void close() {
        queue.close();
    }

    private long delay() {
        return queue.nextFlushAt() - clock.nanoTime();
    }

    @Test
    void claimGoesAtOnce() {
        QueuedCall call = asked(claim);

        assertTaken(call);
    }

    @Test
    void completionsThatComeWithinAMomentGoTogether() {
        QueuedCall first = completed();
        assertThat(delay()).isEqualTo(CommitQueue.GATHER_NANOS);
        pass(CommitQueue.GATHER_NANOS - 1);
        QueuedCall second = completed();
        assertThat(delay()).isOne();
        pass(1);

        assertTaken(first, second);
    }

    @Test
    void claimWaitsForNothingAndTakesCompletionsAlong() {
        QueuedCall completion = completed();
        QueuedCall call = asked(claim);

        assertTaken(completion, call);
    }

    @Test
    void endThatIsAwaitedWaitsForNothingAndTakesCompletionsAlong() {
        QueuedCall completion = completed();
        QueuedCall release = ended(new ClaimResolution.Released(claim.id(), "failed", false), true);

        assertTaken(completion, release);
    }

    @Test
    void completionsThatAreMuchWaitForNothing() {
        List<QueuedCall> completions = new ArrayList<>();
        for (int i = 1; i < MUCH; i++) {
            completions.add(completed());
        }
        assertThat(delay()).isPositive();
        completions.add(completed());

        assertThat(delay()).isZero();
        assertThat(queue.take()).isEqualTo(completions);
    }

    /** Waiting only costs time at low load, because no other completion arrives. */
    @Test
    void completionsGoAtOnceAfterOneThatFoundNoCompanyUntilTwoGoTogether() {
        completed();
        pass(CommitQueue.GATHER_NANOS);
        queue.returned(queue.take());

        QueuedCall alone = completed();
        assertThat(delay()).isZero();
        List<QueuedCall> onItsWay = queue.take();
        assertThat(onItsWay).containsExactly(alone);
        QueuedCall first = completed();
        QueuedCall second = completed();
        queue.returned(onItsWay);
        List<QueuedCall> together = queue.take();
        assertThat(together).containsExactly(first, second);
        queue.returned(together);

        completed();
        assertThat(delay()).isEqualTo(CommitQueue.GATHER_NANOS);
    }

    @Test
    void claimsSayNothingOfTheCompanyOfCompletions() {
        asked(claim);
        queue.returned(queue.take());

        completed();

        assertThat(delay()).isEqualTo(CommitQueue.GATHER_NANOS);
    }

    @Test
    void closedQueueGathersNothing() {
        QueuedCall completion = completed();

        queue.close();

        assertTaken(completion);
        assertThat(queue.take()).isEmpty();
        assertThat(queue.add(completion)).isFalse();
    }

    @Test
    void whatComesDuringABatchSharesTheNextOneUnlessItsFlusherIsStuck() {
        asked(request(newKey()));
        List<QueuedCall> onItsWay = queue.take();
        QueuedCall first = asked(claim);
        QueuedCall second = asked(request(newKey()));
        assertThat(delay()).isEqualTo(CommitQueue.STUCK_NANOS);
        pass(CommitQueue.STUCK_NANOS - 1);
        assertThat(delay()).isOne();
        pass(1);

        assertTaken(first, second);
        queue.returned(onItsWay);
    }

    @Test
    void batchThatIsBackMakesWayForWhatCameMeanwhile() {
        asked(request(newKey()));
        List<QueuedCall> onItsWay = queue.take();
        QueuedCall call = asked(claim);

        queue.returned(onItsWay);

        assertTaken(call);
    }

    @Test
    void secondFlusherHelpsWhereMuchWaits() {
        asked(request(newKey()));
        queue.take();
        List<QueuedCall> calls = new ArrayList<>();
        for (int i = 0; i < MUCH; i++) {
            calls.add(asked(request(newKey())));
        }

        assertThat(delay()).isZero();
        assertThat(queue.take()).isEqualTo(calls);
    }

    @Test
    void flusherThatGathersIsWokenByAClaim() throws Exception {
        Caller<List<QueuedCall>> flusher = flusher();
        QueuedCall completion = completed();
        QueuedCall call = asked(claim);

        assertThat(flusher.answer().get()).isEqualTo(List.of(completion, call));
    }

    /** A flusher that is not woken would check the queue again only after an hour. */
    @Test
    void restOfWhatIsTooMuchForOneBatchWakesTheNextFlusher() throws Exception {
        Caller<List<QueuedCall>> first = flusher();
        Caller<List<QueuedCall>> second = flusher();
        String large = "x".repeat(3_000_000);
        completed(claim, large);
        completed(request(newKey()), large);
        pass(CommitQueue.GATHER_NANOS);
        CompletableFuture.anyOf(first.answer(), second.answer()).get();

        pass(CommitQueue.STUCK_NANOS);

        assertThat(first.answer().get()).hasSize(1);
        assertThat(second.answer().get()).hasSize(1);
    }

    @Test
    void callGoesUndividedWhenAllItsKeysMayAndLaterOnesForThemGoBehindIt() {
        asked(claim);
        List<QueuedCall> onItsWay = queue.take();
        ClaimRequest free = request(newKey());
        QueuedCall poll = asked(free, request(claim.key()));
        QueuedCall later = asked(request(free.key()));
        QueuedCall other = asked(request(newKey()));
        queue.close();

        assertTaken(other);
        queue.returned(onItsWay);
        assertTaken(poll, later);
    }

    @Test
    void noCallIsTakenForAKeyThatAnotherBatchHasAtTheStore() throws Exception {
        asked(claim);
        List<QueuedCall> onItsWay = queue.take();
        QueuedCall call = asked(claim);
        QueuedCall other = asked(request(newKey()));
        pass(CommitQueue.STUCK_NANOS);

        assertTaken(other);
        Caller<List<QueuedCall>> flusher = flusher();
        assertThat(flusher.answer()).isNotDone();
        queue.returned(onItsWay);
        assertThat(flusher.answer().get()).isEqualTo(List.of(call));
    }

    /** A completion must not wait behind many claims. */
    @Test
    void endsGoBeforeTheClaimsOfABatch() {
        QueuedCall call = asked(claim);
        QueuedCall release =
                ended(new ClaimResolution.Released(request(newKey()).id(), "failed", false), true);
        QueuedCall completion = completed();

        assertTaken(release, completion, call);
    }

    @Test
    void resultsThatAreLargeTogetherGoOneAfterTheOtherAndOneThatIsLargerAloneGoes() {
        String large = "x".repeat(3_000_000);
        QueuedCall first = completed(claim, large);
        QueuedCall second = completed(request(newKey()), large + large);
        QueuedCall small = completed(request(newKey()), "1");
        queue.close();

        assertTaken(first, small);
        assertTaken(second);
    }

    @Test
    void onlyWhatHasWaitedForTooLongIsTakenBack() {
        QueuedCall overdue = asked(claim);
        pass(1);
        QueuedCall patient = completed();

        pass(9);
        assertThat(queue.removeOlderThan(11)).isEmpty();
        assertThat(queue.removeOlderThan(10)).isEqualTo(List.of(overdue));
        pass(1);
        assertThat(queue.removeOlderThan(10)).isEqualTo(List.of(patient));
    }

    private QueuedCall asked(ClaimRequest... requests) {
        return add(new ClaimBatch(List.of(), List.of(requests)), true);
    }

    private QueuedCall completed() {
        return completed(request(newKey()), null);
    }

    private QueuedCall completed(ClaimRequest request, String result) {
        return ended(new ClaimResolution.Completed(request.id(), result), false);
    }

    private QueuedCall ended(ClaimResolution resolution, boolean isAwaited) {
        return add(new ClaimBatch(List.of(resolution), List.of()), isAwaited);
    }

    private QueuedCall add(ClaimBatch asked, boolean isAwaited) {
        QueuedCall call = QueuedCall.of(asked, isAwaited, clock.nanoTime());
        assertThat(queue.add(call)).isTrue();
        return call;
    }

    private List<QueuedCall> assertTaken(QueuedCall... calls) {
        assertThat(delay()).isNotPositive();
        List<QueuedCall> batch = queue.take();
        assertThat(batch).isEqualTo(List.of(calls));
        return batch;
    }

    private void pass(long nanos) {
        clock.advance(Duration.ofNanos(nanos));
    }

    /** Starts a thread that takes the next batch. */
    private Caller<List<QueuedCall>> flusher() {
        return GroupCommitRig.call(queue::take);
    }
}
