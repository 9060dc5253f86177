package io.exactlyonce.claim;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How callers that flush and flushers take turns. Nobody here calls a second time: a call that is not heard is lost. */
@Timeout(60)
class PendingQueueTests {

    private static final CoalescingTerms ONE = new CoalescingTerms(1, 256, 10_000, CoalescerRig.PATIENCE);

    private final BlockingQueue<List<Pending>> taken = new LinkedBlockingQueue<>();
    private final PendingQueue queue = new PendingQueue(ONE, new WaitingRoom(ONE, System::nanoTime));
    private final Thread flusher = new Thread(this::flush, "flusher");

    PendingQueueTests() {
        flusher.start();
        awaitParked();
    }

    @AfterEach
    void close() throws InterruptedException {
        queue.close();
        flusher.join(TimeUnit.SECONDS.toMillis(10));
        assertThat(flusher.isAlive()).isFalse();
    }

    private void flush() {
        List<Pending> batch = queue.next();
        while (!batch.isEmpty()) {
            taken.add(batch);
            leave(batch);
            batch = queue.next();
        }
    }

    private void leave(List<Pending> batch) {
        queue.returned(batch);
        queue.finished();
    }

    private void awaitParked() {
        Awaitility.await().until(() -> flusher.getState() == Thread.State.WAITING);
    }

    private static Pending claim(ClaimRequest request) {
        return new Pending(Pending.Kind.CLAIM, request.id(), request);
    }

    private List<Pending> next() throws InterruptedException {
        List<Pending> batch = taken.poll(10, TimeUnit.SECONDS);
        assertThat(batch).as("what the flusher takes").isNotNull();
        return batch;
    }

    @Test
    void whatCameWhileACallerFlushedIsHandedOver() throws Exception {
        Pending first = claim(request(newKey()));
        Pending second = claim(request(newKey()));
        Pending third = claim(request(newKey()));
        queue.add(List.of(first));
        assertThat(queue.isQuiet()).isTrue();
        List<Pending> batch = queue.takeIfWorthwhile();
        queue.add(List.of(second));
        queue.add(List.of(third));
        queue.call();
        assertThat(queue.takeIfWorthwhile()).as("what must wait for the caller").isEmpty();

        leave(batch);
        queue.handOver();

        assertThat(next()).containsExactly(second, third);
    }

    /** It has been looked at before, so it is no arrival any more. */
    @Test
    void whatWaitedForAKeyOnItsWayIsHandedOver() throws Exception {
        ClaimRequest request = request(newKey());
        Pending claim = claim(request);
        Pending release = new Pending(Pending.Kind.RELEASE, request.id(), new Release(request.id(), "failed", false));
        queue.add(List.of(claim));
        List<Pending> batch = queue.takeIfWorthwhile();
        queue.add(List.of(release));
        queue.hurry();
        awaitParked();

        leave(batch);
        queue.handOver();

        assertThat(next()).containsExactly(release);
    }

    @Test
    void interruptedFlusherParksAgain() throws Exception {
        flusher.interrupt();
        awaitParked();
        Pending entry = claim(request(newKey()));
        queue.add(List.of(entry));

        queue.call();

        assertThat(next()).containsExactly(entry);
    }

    /** The flusher is on its way to park, or from it, at any point of the caller's steps. */
    @Test
    void nothingIsForgottenWhateverTheFlusherIsDoing() throws Exception {
        for (int i = 0; i < 5_000; i++) {
            ClaimRequest request = request(newKey());
            Pending first = claim(request);
            Pending second = claim(i % 2 == 0 ? request : request(newKey()));
            queue.add(List.of(first));
            List<Pending> batch = queue.takeIfWorthwhile();
            spin();
            queue.add(List.of(second));
            if (i % 3 == 0) {
                queue.hurry();
            } else {
                queue.call();
            }
            spin();
            if (batch.isEmpty()) {
                // The flusher had not come back yet.
                queue.handOver();
                awaitTaken(first);
            } else {
                leave(batch);
                queue.handOver();
            }
            awaitTaken(second);
        }
    }

    private void awaitTaken(Pending entry) {
        Awaitility.await()
                .pollDelay(0, TimeUnit.MILLISECONDS)
                .pollInterval(50, TimeUnit.MICROSECONDS)
                .until(() -> !entry.isWaiting());
    }

    private static void spin() {
        int rounds = ThreadLocalRandom.current().nextInt(200);
        for (int i = 0; i < rounds; i++) {
            Thread.onSpinWait();
        }
    }
}
