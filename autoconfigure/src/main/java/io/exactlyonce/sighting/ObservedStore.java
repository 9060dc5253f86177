package io.exactlyonce.sighting;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.StoreCalls;
import io.exactlyonce.time.Timer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * The claims' store as observers ask it: on a thread of their own, so that not even one that blocks its callers keeps a handler
 * waiting; a few times if it does not answer; and in silence.
 */
final class ObservedStore {

    private static final long FIRST_PAUSE_MILLIS = 200;

    /** A lost reply is found by one; an outage is soon told. */
    private static final int CLAIM_REPEATS = 1;

    private static final int END_REPEATS = 4;

    private final AsyncClaimStore store;
    private final ClaimSettings terms;
    private final Executor thread;
    private final StoreCalls calls;

    ObservedStore(AsyncClaimStore store, ClaimSettings terms, Executor thread, Timer timer) {
        this.store = store;
        this.terms = terms;
        this.thread = thread;
        this.calls = StoreCalls.inSilence(timer, thread);
    }

    Executor thread() {
        return thread;
    }

    /** Doubts are run again, whatever the listener says of them: the handler runs, so that its key must not be parked. */
    ClaimRequest request(ObservedMessage message) {
        return terms.request(
                new ClaimSpec(message.key(), message.payload().get(), InDoubtPolicy.RERUN), message.lease());
    }

    CompletableFuture<List<ClaimOutcome>> claim(ClaimRequest request) {
        return untilAnswered("Claiming", request.key(), CLAIM_REPEATS, () -> store.claimAsync(List.of(request)));
    }

    CompletableFuture<Set<ClaimId>> end(ClaimEnd end) {
        return untilAnswered("Ending", end.claim().key(), END_REPEATS, () -> store.endAsync(List.of(end)));
    }

    private <T> CompletableFuture<T> untilAnswered(
            String what, ClaimKey key, int repeats, Supplier<CompletableFuture<T>> call) {
        ExponentialBackOff pauses = new ExponentialBackOff(FIRST_PAUSE_MILLIS, 2);
        pauses.setMaxAttempts(repeats);
        return calls.untilAnswered(what, key, pauses, () -> true, call);
    }
}
