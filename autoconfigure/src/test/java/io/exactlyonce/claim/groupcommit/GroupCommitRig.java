package io.exactlyonce.claim.groupcommit;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.Claims;
import io.exactlyonce.claim.GatedStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;

/** A front of a store that stands still, and callers in threads of their own. */
public final class GroupCommitRig implements AutoCloseable {

    public static final Duration PATIENCE = Duration.ofSeconds(30);

    public final GatedStore store = new GatedStore();
    public final GroupCommitClaimStore front;

    public GroupCommitRig(int flushers, int maxBatch, Duration patience) {
        this.front = new GroupCommitClaimStore(
                store, new GroupCommitSettings(flushers, maxBatch, patience), System::nanoTime);
    }

    public GroupCommitRig() {
        this(1, 256, PATIENCE);
    }

    /** A call in a thread of its own. */
    public record Caller<T>(Thread thread, CompletableFuture<T> answer) {}

    public Caller<ClaimOutcome> claim(ClaimRequest request) {
        return call(() -> front.claim(List.of(request)).get(0));
    }

    Caller<Boolean> complete(ClaimRequest request, String result) {
        return call(() -> Claims.complete(front, request, result));
    }

    Caller<Boolean> release(ClaimRequest request) {
        return call(() -> Claims.release(front, request));
    }

    Caller<Boolean> renew(ClaimRequest request) {
        return call(() -> Claims.renew(front, request));
    }

    /** Returns once the call waits: for its batch, or for its answer. */
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
                        .anyMatch(frame -> frame.getClassName().startsWith("io.exactlyonce.claim.")
                                && !frame.getClassName().endsWith("Rig"));
    }

    @Override
    public void close() {
        store.open();
        front.close();
    }
}
