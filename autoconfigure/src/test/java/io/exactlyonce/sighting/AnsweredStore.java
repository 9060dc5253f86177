package io.exactlyonce.sighting;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A store whose answers come when a test gives them. */
final class AnsweredStore implements AsyncClaimStore {

    /** A call without an answer yet, if it has none. */
    record Call<A, R>(A asked, CompletableFuture<R> answer) {}

    final List<Call<ClaimRequest, List<ClaimOutcome>>> claims = new ArrayList<>();
    final List<Call<ClaimEnd, Set<ClaimId>>> ends = new ArrayList<>();

    @Override
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
        Call<ClaimRequest, List<ClaimOutcome>> call = new Call<>(requests.get(0), new CompletableFuture<>());
        claims.add(call);
        return call.answer();
    }

    @Override
    public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> asked) {
        Call<ClaimEnd, Set<ClaimId>> call = new Call<>(asked.get(0), new CompletableFuture<>());
        ends.add(call);
        return call.answer();
    }

    void answer(int claim, ClaimOutcome outcome) {
        claims.get(claim).answer().complete(List.of(outcome));
    }

    void record(int end) {
        ends.get(end).answer().complete(Set.of(ends.get(end).asked().claim()));
    }

    void lose(int end) {
        ends.get(end).answer().complete(Set.of());
    }
}
