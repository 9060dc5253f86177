package io.exactlyonce.claim.groupcommit;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.Claims;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.time.SystemScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.awaitility.Awaitility;

/** A group commit in front of a {@link GatedStore}, and callers on separate threads. */
public final class GroupCommitRig implements AutoCloseable {

    public static final Duration QUEUE_TIMEOUT = Duration.ofSeconds(30);

    public final GatedStore store = new GatedStore();
    public final GroupCommitClaimStore front;

    public GroupCommitRig(int flushers, int maxBatch, Duration queueTimeout) {
        this.front = new GroupCommitClaimStore(
                store, new GroupCommitSettings(flushers, maxBatch, queueTimeout), new SystemScheduler());
    }

    public GroupCommitRig() {
        this(1, 256, QUEUE_TIMEOUT);
    }

    /** Keeps the flusher busy with a claim until the test answers the returned batch. */
    GatedStore.Batch block() throws InterruptedException {
        claim(Claims.request(Claims.newKey()));
        return store.next();
    }

    /** A call on a separate thread. */
    public record Caller<T>(Thread thread, CompletableFuture<T> answer) {}

    /** Claims, and waits for the answer. */
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) throws Exception {
        return answer(front.claimAsync(requests)).outcomes();
    }

    /** Resolves claims, and waits for the answer. */
    public Set<ClaimId> end(List<ClaimResolution> resolutions) throws Exception {
        return answer(front.resolveAsync(resolutions, true)).granted();
    }

    private static <T> T answer(CompletableFuture<T> call) throws Exception {
        try {
            return call.get();
        } catch (ExecutionException failed) {
            throw (Exception) failed.getCause();
        }
    }

    public Caller<ClaimOutcome> claim(ClaimRequest request) {
        return call(() -> claim(List.of(request)).get(0));
    }

    Caller<Boolean> complete(ClaimRequest request, String result) {
        return call(() -> end(List.of(new ClaimResolution.Completed(request.id(), result)))
                .contains(request.id()));
    }

    /** Starts a call on a separate thread. Returns when the call waits for its batch or its answer, or has ended. */
    public static <T> Caller<T> call(Callable<T> work) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                answer.complete(work.call());
            } catch (Throwable failure) {
                answer.completeExceptionally(failure);
            }
        });
        thread.start();
        Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> answer.isDone() || isParked(thread));
        return new Caller<>(thread, answer);
    }

    private static boolean isParked(Thread thread) {
        Thread.State state = thread.getState();
        return (state == Thread.State.TIMED_WAITING || state == Thread.State.WAITING)
                && List.of(thread.getStackTrace()).stream()
                        .anyMatch(frame -> frame.getClassName().equals(CompletableFuture.class.getName())
                                || frame.getClassName().equals(CommitQueue.class.getName())
                                || frame.getClassName().equals(GroupCommitClaimStore.class.getName()));
    }

    @Override
    public void close() {
        store.open();
        front.close();
    }
}
