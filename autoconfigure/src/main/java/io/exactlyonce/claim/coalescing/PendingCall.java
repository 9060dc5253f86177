package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a call, and the future of its answer. The answer, or why there is none, is noted first, by the one thread that
 * has taken the entry out of the queue, and shown when the entry's whole batch is back: what depends on it then runs on that
 * thread.
 *
 * @param <A> the answer: a {@link ClaimOutcome} for a claim, what became of its whole batch for the end of one
 */
final class PendingCall<A> {

    private final Kind kind;
    private final ClaimId claim;
    private final Object request;
    private final Class<A> type;
    private final long deadline;
    private final CompletableFuture<@Nullable Void> shown = new CompletableFuture<>();
    private @Nullable A given;
    private @Nullable RuntimeException failure;

    /** What an entry is for. In a batch, earlier kinds go first: the end of a claim lets other deliveries go on. */
    enum Kind {
        COMPLETION,
        RELEASE,
        PARKING,
        CLAIM
    }

    private PendingCall(Kind kind, ClaimId claim, Object request, Class<A> type, long deadline) {
        this.kind = kind;
        this.claim = claim;
        this.request = request;
        this.type = type;
        this.deadline = deadline;
    }

    /** @param deadline until which it may wait for its batch, by the clock, in nanoseconds */
    static PendingCall<ClaimOutcome> of(ClaimRequest request, long deadline) {
        return new PendingCall<>(Kind.CLAIM, request.id(), request, ClaimOutcome.class, deadline);
    }

    /** @param deadline until which it may wait for its batch, by the clock, in nanoseconds */
    static PendingCall<ClaimBatch.Result> of(ClaimEnd end, long deadline) {
        return new PendingCall<>(kindOf(end), end.claim(), end, ClaimBatch.Result.class, deadline);
    }

    private static Kind kindOf(ClaimEnd end) {
        if (end instanceof ClaimEnd.Completed) {
            return Kind.COMPLETION;
        }
        return end instanceof ClaimEnd.Released ? Kind.RELEASE : Kind.PARKING;
    }

    /** Returns what the entries of a batch ask for, of one type. */
    static <R> List<R> requests(List<PendingCall<?>> batch, Class<R> type) {
        return batch.stream()
                .map(entry -> entry.request)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    /** Returns whether it is a claim, and has been answered with its key. */
    boolean isAcquired() {
        return given instanceof ClaimOutcome.Acquired;
    }

    Kind kind() {
        return kind;
    }

    ClaimKey key() {
        return claim.key();
    }

    long deadline() {
        return deadline;
    }

    /** The characters that its batch has to carry beyond the usual few. */
    int weight() {
        return request instanceof ClaimEnd.Completed completion && completion.result() != null
                ? completion.result().length()
                : 0;
    }

    /** Completes, and never fails, when the answer or why there is none is shown. */
    CompletableFuture<@Nullable Void> shown() {
        return shown;
    }

    /** Returns why there is no answer; {@code null} if there is one. Only once it is shown. */
    @Nullable RuntimeException failure() {
        return given == null && failure == null
                ? new ClaimStoreUnavailableException("The store's answer was lost in a crash", null)
                : failure;
    }

    /** Returns the answer, of an entry that has no failure. */
    A answer() {
        return Objects.requireNonNull(given);
    }

    void note(Object answer) {
        given = type.cast(answer);
    }

    void fail(RuntimeException why) {
        failure = why;
    }

    /** Shows what was noted. What depends on it runs here. */
    void show() {
        shown.complete(null);
    }
}
