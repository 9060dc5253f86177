package io.exactlyonce.claim.groupcommit;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.groupcommit.CommitQueue.Call;
import io.exactlyonce.claim.groupcommit.CommitQueue.Entry;
import io.exactlyonce.claim.groupcommit.GroupCommitRig.Caller;
import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a flusher takes a batch, which entries go together, and what has waited for too long. */
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

    @Test
    void claimGoesAtOnce() {
        Entry entry = asked(claim);

        assertTaken(entry);
    }

    @Test
    void completionsThatComeWithinAMomentGoTogether() {
        Entry first = completed();
        assertThat(queue.delay()).isEqualTo(CommitQueue.GATHER_NANOS);
        pass(CommitQueue.GATHER_NANOS - 1);
        Entry second = completed();
        assertThat(queue.delay()).isOne();
        pass(1);

        assertTaken(first, second);
    }

    @Test
    void claimWaitsForNothingAndTakesCompletionsAlong() {
        Entry completion = completed();
        Entry entry = asked(claim);

        assertTaken(completion, entry);
    }

    @Test
    void endThatIsAwaitedWaitsForNothingAndTakesCompletionsAlong() {
        Entry completion = completed();
        Entry release = ended(new ClaimEnd.Released(claim.id(), "failed", false), true);

        assertTaken(completion, release);
    }

    @Test
    void completionsThatAreMuchWaitForNothing() {
        List<Entry> completions = new ArrayList<>();
        for (int i = 1; i < MUCH; i++) {
            completions.add(completed());
        }
        assertThat(queue.delay()).isPositive();
        completions.add(completed());

        assertThat(queue.delay()).isZero();
        assertThat(queue.take()).isEqualTo(completions);
    }

    @Test
    void closedQueueGathersNothing() {
        Entry completion = completed();

        queue.close();

        assertTaken(completion);
        assertThat(queue.take()).isEmpty();
        assertThat(queue.add(List.of(completion))).isFalse();
    }

    @Test
    void whatComesDuringABatchSharesTheNextOneUnlessItsFlusherIsStuck() {
        asked(request(newKey()));
        List<Entry> onItsWay = queue.take();
        Entry first = asked(claim);
        Entry second = asked(request(newKey()));
        assertThat(queue.delay()).isEqualTo(CommitQueue.STUCK_NANOS);
        pass(CommitQueue.STUCK_NANOS - 1);
        assertThat(queue.delay()).isOne();
        pass(1);

        assertTaken(first, second);
        queue.returned(onItsWay);
    }

    @Test
    void batchThatIsBackMakesWayForWhatCameMeanwhile() {
        asked(request(newKey()));
        List<Entry> onItsWay = queue.take();
        Entry entry = asked(claim);

        queue.returned(onItsWay);

        assertTaken(entry);
    }

    @Test
    void secondFlusherHelpsWhereMuchWaits() {
        asked(request(newKey()));
        queue.take();
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < MUCH; i++) {
            entries.add(asked(request(newKey())));
        }

        assertThat(queue.delay()).isZero();
        assertThat(queue.take()).isEqualTo(entries);
    }

    @Test
    void flusherThatGathersIsWokenByAClaim() throws Exception {
        Caller<List<Entry>> flusher = flusher();
        Entry completion = completed();
        Entry entry = asked(claim);

        assertThat(flusher.answer().get()).isEqualTo(List.of(completion, entry));
    }

    @Test
    void restOfWhatIsTooMuchForOneBatchWakesTheNextFlusher() throws Exception {
        Caller<List<Entry>> first = flusher();
        Caller<List<Entry>> second = flusher();
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < MOST + MUCH; i++) {
            entries.add(entry(request(newKey()), true));
        }
        queue.add(entries);

        assertThat(List.of(first.answer().get().size(), second.answer().get().size()))
                .containsExactlyInAnyOrder(MOST, MUCH);
    }

    /** Which of them came first would be left to chance. */
    @Test
    void twoEndsOfOneKeyGoOneAfterTheOther() {
        Entry first = completed(claim, "1");
        Entry second = completed(claim, "2");
        queue.close();

        List<Entry> onItsWay = assertTaken(first);
        queue.returned(onItsWay);
        assertTaken(second);
    }

    @Test
    void nothingGoesOfAKeyThatIsOnItsWayWithAnotherBatch() throws Exception {
        asked(claim);
        List<Entry> onItsWay = queue.take();
        Entry entry = asked(claim);
        Entry other = asked(request(newKey()));
        pass(CommitQueue.STUCK_NANOS);

        assertTaken(other);
        Caller<List<Entry>> flusher = flusher();
        assertThat(flusher.answer()).isNotDone();
        queue.returned(onItsWay);
        assertThat(flusher.answer().get()).isEqualTo(List.of(entry));
    }

    @Test
    void claimsOfOneKeyGoTogetherButBehindItsCompletion() {
        Entry first = asked(claim);
        Entry second = asked(request(claim.key()));
        Entry completion = completed(claim, "1");
        queue.close();

        List<Entry> onItsWay = assertTaken(completion);
        queue.returned(onItsWay);
        assertTaken(first, second);
    }

    @Test
    void batchHoldsNoMoreThanItsMost() {
        for (int entry = 0; entry <= MOST; entry++) {
            asked(request(newKey()));
        }
        queue.close();

        assertThat(queue.take()).hasSize(MOST);
        assertThat(queue.take()).hasSize(1);
    }

    @Test
    void resultsThatAreLargeTogetherGoOneAfterTheOtherAndOneThatIsLargerAloneGoes() {
        String large = "x".repeat(3_000_000);
        Entry first = completed(claim, large);
        Entry second = completed(request(newKey()), large + large);
        Entry small = completed(request(newKey()), "1");
        queue.close();

        assertTaken(first, small);
        assertTaken(second);
    }

    @Test
    void onlyWhatHasWaitedForTooLongIsTakenBack() {
        Entry overdue = asked(claim);
        pass(1);
        Entry patient = completed();

        pass(9);
        assertThat(queue.withdraw(11)).isEmpty();
        assertThat(queue.withdraw(10)).isEqualTo(List.of(overdue));
        pass(1);
        assertThat(queue.withdraw(10)).isEqualTo(List.of(patient));
    }

    @Test
    void entryThatIsTakenBackNeverGoes() {
        asked(claim);

        assertThat(queue.withdraw(0)).hasSize(1);
        assertThat(queue.withdraw(0)).isEmpty();
        queue.close();
        assertThat(queue.take()).isEmpty();
    }

    private Entry asked(ClaimRequest request) {
        return add(entry(request, true));
    }

    private Entry completed() {
        return completed(request(newKey()), null);
    }

    private Entry completed(ClaimRequest request, String result) {
        return ended(new ClaimEnd.Completed(request.id(), result), false);
    }

    private Entry ended(ClaimEnd end, boolean isAwaited) {
        return add(entry(end, isAwaited));
    }

    private Entry entry(Object request, boolean isAwaited) {
        return new Entry(request, Call.of(1, isAwaited, clock.nanoTime(), answers -> answers), 0);
    }

    private Entry add(Entry entry) {
        assertThat(queue.add(List.of(entry))).isTrue();
        return entry;
    }

    private List<Entry> assertTaken(Entry... entries) {
        assertThat(queue.delay()).isNotPositive();
        List<Entry> batch = queue.take();
        assertThat(batch).isEqualTo(List.of(entries));
        return batch;
    }

    private void pass(long nanos) {
        clock.advance(Duration.ofNanos(nanos));
    }

    /** Takes the next batch, in a thread of its own. */
    private Caller<List<Entry>> flusher() {
        return GroupCommitRig.call(queue::take);
    }
}
