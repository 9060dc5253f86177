package io.exactlyonce.claim.coalescing;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.coalescing.CoalescingClaimStoreRig.Caller;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Completions wait for others that may come soon: how long, for which, and what ends the wait. */
@Timeout(60)
class CompletionsTogetherTests {

    private static final long FOR_EVER = TimeUnit.HOURS.toNanos(1);
    private static final long SHORTLY = TimeUnit.MILLISECONDS.toNanos(1);

    private final List<ClaimRequest> claims =
            Stream.generate(() -> request(newKey())).limit(3).toList();

    private ClaimQueue queue = queue(FOR_EVER);

    @AfterEach
    void close() {
        queue.close();
    }

    @Test
    void completionsOfClaimsThatWereMadeTogetherGoTogether() throws Exception {
        acquire(claims);
        Caller<List<PendingCall<?>>> flusher = flusher();
        complete(claims.get(0));
        complete(claims.get(1));
        assertThat(flusher.answer()).isNotDone();

        complete(claims.get(2));

        assertThat(flusher.answer().get()).hasSize(3);
    }

    @Test
    void flusherThatFindsACompletionWaitsForTheOthers() throws Exception {
        acquire(claims);
        complete(claims.get(0));
        Caller<List<PendingCall<?>>> flusher = flusher();
        assertThat(flusher.answer()).isNotDone();

        complete(claims.get(1));
        complete(claims.get(2));

        assertThat(flusher.answer().get()).hasSize(3);
    }

    @Test
    void claimWaitsForNothingAndTakesCompletionsAlong() throws Exception {
        acquire(claims);
        Caller<List<PendingCall<?>>> flusher = flusher();
        complete(claims.get(0));

        ask(request(newKey()));

        assertThat(flusher.answer().get()).hasSize(2);
    }

    @Test
    void releaseWaitsForNothingAndTakesCompletionsAlong() throws Exception {
        acquire(claims);
        Caller<List<PendingCall<?>>> flusher = flusher();
        complete(claims.get(0));

        end(new ClaimEnd.Released(claims.get(1).id(), "failed", false));

        assertThat(flusher.answer().get()).hasSize(2);
    }

    @Test
    void completionOfTheOnlyClaimWaitsForNothing() throws Exception {
        acquire(claims.subList(0, 1));
        Caller<List<PendingCall<?>>> flusher = flusher();

        complete(claims.get(0));

        assertThat(flusher.answer().get()).hasSize(1);
    }

    @Test
    void keysThatWereNotAcquiredAreNotWaitedFor() throws Exception {
        answer(claims, new ClaimOutcome.AlreadyCompleted(null));
        acquire(List.of(request(newKey())));
        Caller<List<PendingCall<?>>> flusher = flusher();

        complete(claims.get(0));

        assertThat(flusher.answer().get()).hasSize(1);
    }

    @Test
    void completionGoesAloneWhenTheOthersTakeLong() throws Exception {
        queue = queue(SHORTLY);
        acquire(claims);
        Caller<List<PendingCall<?>>> flusher = flusher();

        complete(claims.get(0));

        assertThat(flusher.answer().get()).hasSize(1);
    }

    @Test
    void handlersThatTakeLongAreWaitedForOnce() throws Exception {
        queue = queue(TimeUnit.SECONDS.toNanos(1));
        acquire(claims);
        Caller<List<PendingCall<?>>> first = flusher();
        complete(claims.get(0));
        queue.returned(first.answer().get());
        Caller<List<PendingCall<?>>> second = flusher();
        long before = System.nanoTime();

        complete(claims.get(1));

        assertThat(second.answer().get()).hasSize(1);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(1));
    }

    /** The flusher that gathered nothing did so since another one was faster, and not since the handlers take long. */
    @Test
    void othersAreWaitedForStillWhenAnotherFlusherTookWhatWasGathered() throws Exception {
        queue = queue(TimeUnit.SECONDS.toNanos(1));
        acquire(claims);
        Caller<List<PendingCall<?>>> gathering = flusher();
        Caller<List<PendingCall<?>>> faster = flusher();
        complete(claims.get(0));
        awaitState(gathering, Thread.State.TIMED_WAITING);
        ask(request(newKey()));
        assertThat(faster.answer().get()).hasSize(2);
        awaitState(gathering, Thread.State.WAITING);
        queue.returned(faster.answer().get());

        complete(claims.get(1));
        awaitState(gathering, Thread.State.TIMED_WAITING);
        complete(claims.get(2));

        assertThat(gathering.answer().get()).hasSize(2);
    }

    @Test
    void closedQueueGathersNothing() throws Exception {
        acquire(claims);
        Caller<List<PendingCall<?>>> flusher = flusher();
        complete(claims.get(0));

        queue.close();

        assertThat(flusher.answer().get()).hasSize(1);
    }

    private static ClaimQueue queue(long gatherNanos) {
        return new ClaimQueue(new CoalescingSettings(2, 256, Duration.ofSeconds(30)), System::nanoTime, gatherNanos);
    }

    private void acquire(List<ClaimRequest> requests) {
        answer(requests, new ClaimOutcome.Acquired(1, 1, false));
    }

    private void answer(List<ClaimRequest> requests, ClaimOutcome outcome) {
        queue.returned(taken(requests, outcome));
    }

    /** Returns a batch that the store has answered. */
    private List<PendingCall<?>> taken(List<ClaimRequest> requests, ClaimOutcome outcome) {
        queue.add(requests.stream()
                .map(request -> PendingCall.of(request, Long.MAX_VALUE))
                .toList());
        List<PendingCall<?>> batch = queue.take();
        batch.forEach(entry -> entry.note(outcome));
        return batch;
    }

    /** Takes the next batch, in a thread of its own. */
    private Caller<List<PendingCall<?>>> flusher() {
        return CoalescingClaimStoreRig.call(queue::take);
    }

    private static void awaitState(Caller<?> flusher, Thread.State state) {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(1))
                .until(() -> flusher.answer().isDone() || flusher.thread().getState() == state);
    }

    private void ask(ClaimRequest request) {
        queue.add(List.of(PendingCall.of(request, Long.MAX_VALUE)));
    }

    private void complete(ClaimRequest request) {
        end(new ClaimEnd.Completed(request.id(), null));
    }

    private void end(ClaimEnd end) {
        queue.add(List.of(PendingCall.of(end, Long.MAX_VALUE)));
    }
}
