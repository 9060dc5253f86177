package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a call, and the future of its answer.
 *
 * @param <A> the answer: a {@link ClaimOutcome} for a claim, an {@link EndAnswer} for the end of one
 */
record PendingCall<A>(Kind kind, ClaimId claim, Object request, Class<A> type, CompletableFuture<@Nullable A> answer) {

    /** What an entry is for. In a batch, earlier kinds go first: the end of a claim lets other deliveries go on. */
    enum Kind {
        COMPLETION,
        RELEASE,
        PARKING,
        CLAIM
    }

    /** What became of the end of a claim. */
    enum EndAnswer {
        RECORDED,
        /** The claim does not hold its key any more. */
        LOST,
        /** Nothing was written: another transaction kept the claim's row locked. */
        LOCKED
    }

    static PendingCall<ClaimOutcome> of(ClaimRequest request) {
        return new PendingCall<>(Kind.CLAIM, request.id(), request, ClaimOutcome.class, new CompletableFuture<>());
    }

    static PendingCall<EndAnswer> of(ClaimEnd end) {
        return new PendingCall<>(kindOf(end), end.claim(), end, EndAnswer.class, new CompletableFuture<>());
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
                .map(PendingCall::request)
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    ClaimKey key() {
        return claim.key();
    }

    /** The characters that its batch has to carry beyond the usual few. */
    int weight() {
        return request instanceof ClaimEnd.Completed completion && completion.result() != null
                ? completion.result().length()
                : 0;
    }

    /** Waits for the answer. */
    A get() throws InterruptedException {
        try {
            return orLost(answer.get());
        } catch (ExecutionException failed) {
            throw (RuntimeException) failed.getCause();
        }
    }

    /** Waits for the answer, and not for longer than this. */
    A get(long nanos) throws InterruptedException, TimeoutException {
        try {
            return orLost(answer.get(nanos, TimeUnit.NANOSECONDS));
        } catch (ExecutionException failed) {
            throw (RuntimeException) failed.getCause();
        }
    }

    private A orLost(@Nullable A given) {
        if (given == null) {
            throw new ClaimStoreUnavailableException("The store's answer was lost: out of memory or stack", null);
        }
        return given;
    }

    void answer(Object given) {
        answer.complete(type.cast(given));
    }

    void fail(RuntimeException failure) {
        answer.completeExceptionally(failure);
    }

    /** Wakes up a caller that got no answer. It needs no memory; the caller says on its own stack what is wrong. */
    void loseUnlessAnswered() {
        answer.complete(null);
    }
}
