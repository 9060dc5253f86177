package io.exactlyonce.claim.coalescing;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.Release;
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
class ClaimQueueTests {

    private static final CoalescingSettings ONE =
            new CoalescingSettings(1, 256, 10_000, CoalescingClaimStoreRig.PATIENCE);

    private final BlockingQueue<List<PendingCall>> taken = new LinkedBlockingQueue<>();
    private final ClaimQueue queue = new ClaimQueue(ONE, new WaitingRoom(ONE, System::nanoTime));
    private final Thread flusher = new Thread(this::flush, "flusher");

    ClaimQueueTests() {
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
        List<PendingCall> batch = queue.next();
        while (!batch.isEmpty()) {
            taken.add(batch);
            leave(batch);
            batch = queue.next();
        }
    }

    private void leave(List<PendingCall> batch) {
        queue.returned(batch);
        queue.finished();
    }

    private void awaitParked() {
        Awaitility.await().until(() -> flusher.getState() == Thread.State.WAITING);
    }

    private static PendingCall claim(ClaimRequest request) {
        return new PendingCall(PendingCall.Kind.CLAIM, request.id(), request);
    }

    private List<PendingCall> next() throws InterruptedException {
        List<PendingCall> batch = taken.poll(10, TimeUnit.SECONDS);
        assertThat(batch).as("what the flusher takes").isNotNull();
        return batch;
    }

    @Test
    void whatCameWhileACallerFlushedIsHandedOver() throws Exception {
        PendingCall first = claim(request(newKey()));
        PendingCall second = claim(request(newKey()));
        PendingCall third = claim(request(newKey()));
        queue.add(List.of(first));
        assertThat(queue.isQuiet()).isTrue();
        List<PendingCall> batch = queue.takeIfWorthwhile();
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
        PendingCall claim = claim(request);
        PendingCall release =
                new PendingCall(PendingCall.Kind.RELEASE, request.id(), new Release(request.id(), "failed", false));
        queue.add(List.of(claim));
        List<PendingCall> batch = queue.takeIfWorthwhile();
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
        PendingCall entry = claim(request(newKey()));
        queue.add(List.of(entry));

        queue.call();

        assertThat(next()).containsExactly(entry);
    }

    /** The flusher is on its way to park, or from it, at any point of the caller's steps. */
    @Test
    void nothingIsForgottenWhateverTheFlusherIsDoing() throws Exception {
        for (int i = 0; i < 5_000; i++) {
            ClaimRequest request = request(newKey());
            PendingCall first = claim(request);
            PendingCall second = claim(i % 2 == 0 ? request : request(newKey()));
            queue.add(List.of(first));
            List<PendingCall> batch = queue.takeIfWorthwhile();
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

    private void awaitTaken(PendingCall entry) {
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
