package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import java.util.List;
import java.util.Map;
import org.springframework.dao.ConcurrencyFailureException;

/**
 * Decides a batch in rounds:
 *
 * <ol>
 *   <li>One statement writes the ends, inserts the keys that were never claimed, and reads the rows of the rest.
 *   <li>Free keys are taken over, unless another transaction was faster.
 *   <li>What changed in between goes through another round.
 * </ol>
 *
 * <p>First claims, duplicates and ends take one round and one statement. The insert alone decides first claims; duplicates
 * write nothing.
 */
public final class BatchExecutor {

    /** Contention costs two or three; each further round takes one more writer in between. */
    private static final int MAX_ROUNDS = 10;

    private final RetryingTransaction transaction;
    private final BatchStatement statement;
    private final TakeoverStep takeovers;
    private final LockedRowWait lockedRows;

    BatchExecutor(
            RetryingTransaction transaction,
            BatchStatement statement,
            TakeoverStep takeovers,
            LockedRowWait lockedRows) {
        this.transaction = transaction;
        this.statement = statement;
        this.takeovers = takeovers;
        this.lockedRows = lockedRows;
    }

    ClaimBatch.Result apply(ClaimBatch batch) {
        UnwrittenEnds ends = new UnwrittenEnds(batch.ends());
        UndecidedClaims claims = new UndecidedClaims(batch.claims());
        int all = ends.openCount() + claims.openCount();
        for (int round = 0; ends.isOpen() || claims.isOpen(); round++) {
            requireMore(round, ends.openCount() + claims.openCount(), all);
            round(ends, claims);
        }
        return new ClaimBatch.Result(ends.recorded(), claims.outcomes(), ends.locked());
    }

    private void round(UnwrittenEnds ends, UndecidedClaims claims) {
        Map<ClaimKey, ClaimEnd> ending = ends.next();
        List<ClaimRequest> claiming = claims.next(ending.keySet());
        BatchReply answer = transaction.execute(() -> statement.run(List.copyOf(ending.values()), claiming));
        List<RequestedRow> found = claims.answered(answer);
        if (!found.isEmpty()) {
            takeovers.decide(found);
        }
        claims.forgetDecided();
        ends.answered(ending, answer, lockedRows);
    }

    static void requireMore(int round, int open, int all) {
        if (round == MAX_ROUNDS) {
            throw new ConcurrencyFailureException(
                    "%d of %d keys changed in each of %d rounds, and nothing is known of them: try the batch again"
                            .formatted(open, all, MAX_ROUNDS));
        }
    }
}
