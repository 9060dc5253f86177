package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.Completion;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One entry of a call, from the caller's thread to a flusher's and back: waiting, then taken into a batch, then settled. */
final class PendingCall {

    /** What an entry is for. Within a batch's room, earlier ones go first: an end lets others go on. */
    enum Kind {
        RENEWAL,
        COMPLETION,
        RELEASE,
        PARKING,
        CLAIM
    }

    private final Kind kind;
    private final ClaimId claim;
    private final Object request;
    private final Thread waiter = Thread.currentThread();

    /** Where an entry is. */
    private enum Stage {
        WAITING,
        WITHDRAWN,
        TAKEN,
        SETTLED
    }

    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.WAITING);

    // Written by whoever flushes before it settles the entry, read by the caller after that.
    private boolean answered;
    private boolean granted;
    private boolean locked;
    private @Nullable ClaimOutcome outcome;
    private @Nullable RuntimeException failure;

    PendingCall(Kind kind, ClaimId claim, Object request) {
        this.kind = kind;
        this.claim = claim;
        this.request = request;
    }

    static <R> List<R> requests(List<PendingCall> batch, Kind kind, Class<R> type) {
        List<R> requests = new ArrayList<>();
        for (PendingCall entry : batch) {
            if (entry.kind == kind) {
                requests.add(type.cast(entry.request));
            }
        }
        return requests;
    }

    static boolean areOfOneCaller(List<PendingCall> batch) {
        Thread first = batch.get(0).waiter;
        return batch.get(batch.size() - 1).waiter == first && batch.stream().allMatch(entry -> entry.waiter == first);
    }

    Kind kind() {
        return kind;
    }

    ClaimId claim() {
        return claim;
    }

    ClaimKey key() {
        return claim.key();
    }

    /** The characters that its batch has to carry beyond the usual few. */
    int weight() {
        return request instanceof Completion completion && completion.result() != null
                ? completion.result().length()
                : 0;
    }

    boolean isWaiting() {
        return stage.get() == Stage.WAITING;
    }

    /** A flusher takes it into a batch; returns whether it still waited. */
    boolean take() {
        return stage.compareAndSet(Stage.WAITING, Stage.TAKEN);
    }

    /** Its caller takes it back; returns whether it still waited. If not, it is on its way to the store. */
    boolean withdraw() {
        return stage.compareAndSet(Stage.WAITING, Stage.WITHDRAWN);
    }

    boolean isSettled() {
        return stage.get() == Stage.SETTLED;
    }

    void grantIfAmong(Set<ClaimId> claims) {
        granted = claims.contains(claim);
        answered = true;
    }

    void lockIfAmong(Set<ClaimId> claims) {
        locked = kind != Kind.CLAIM && claims.contains(claim);
    }

    void decide(ClaimOutcome outcome) {
        this.outcome = outcome;
        answered = true;
    }

    void fail(RuntimeException failure) {
        this.failure = failure;
    }

    /** Shows the caller its answer. */
    void settle() {
        stage.set(Stage.SETTLED);
        LockSupport.unpark(waiter);
    }

    /** Returns what it ended with instead of an answer, or {@code null}. Only once it is settled. */
    @Nullable RuntimeException failure() {
        if (failure == null && !answered) {
            return new ClaimStoreUnavailableException(
                    "The store's answer got lost on its way back, for want of memory or stack", null);
        }
        return failure;
    }

    boolean isGranted() {
        return granted;
    }

    /** Tells whether nothing was written, since somebody else kept the claim's row locked. */
    boolean isLocked() {
        return locked;
    }

    ClaimOutcome outcome() {
        if (outcome == null) {
            throw new IllegalStateException("No outcome for " + key());
        }
        return outcome;
    }
}
