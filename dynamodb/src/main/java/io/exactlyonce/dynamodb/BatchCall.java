package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Ends, and claims of other keys, in the same requests; claims of keys that end here after that. */
final class BatchCall {

    private final ClaimCalls calls;
    private final ClaimBatch batch;
    private final Set<ClaimKey> ending = new HashSet<>();

    BatchCall(ClaimCalls calls, ClaimBatch batch) {
        this.calls = calls;
        this.batch = batch;
        batch.ends().forEach(end -> ending.add(end.claim().key()));
    }

    CompletableFuture<ClaimBatch.Result> run() {
        return calls.writer().together(shared -> run(calls.with(shared)));
    }

    private CompletableFuture<ClaimBatch.Result> run(ClaimCalls together) {
        CompletableFuture<Ended> ended = batch.ends().isEmpty()
                ? CompletableFuture.completedFuture(Ended.NOTHING)
                : together.end(batch.ends()).handle(Ended::of);
        CompletableFuture<Map<ClaimId, ClaimOutcome>> claimed = outcomes(together, false);
        CompletableFuture<Map<ClaimId, ClaimOutcome>> after = ended.thenCompose(done -> outcomes(calls, true));
        return ended.thenCombine(claimed.thenCombine(after, BatchCall::both), (ends, all) -> ends.with(batch, all));
    }

    /** Of two requests with one claim id, which is one claim, either answer will do. */
    private CompletableFuture<Map<ClaimId, ClaimOutcome>> outcomes(ClaimCalls by, boolean ofEndingKeys) {
        List<ClaimRequest> requests = batch.claims().stream()
                .filter(request -> ending.contains(request.key()) == ofEndingKeys)
                .toList();
        if (requests.isEmpty()) {
            return CompletableFuture.completedFuture(Map.of());
        }
        return by.claim(requests).thenApply(outcomes -> {
            Map<ClaimId, ClaimOutcome> all = new HashMap<>();
            for (int i = 0; i < outcomes.size(); i++) {
                all.put(requests.get(i).id(), outcomes.get(i));
            }
            return all;
        });
    }

    private static Map<ClaimId, ClaimOutcome> both(Map<ClaimId, ClaimOutcome> some, Map<ClaimId, ClaimOutcome> others) {
        Map<ClaimId, ClaimOutcome> all = new HashMap<>(some);
        all.putAll(others);
        return all;
    }
}
