package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimBatchResult;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import java.util.List;
import java.util.Map;
import org.springframework.dao.ConcurrencyFailureException;

/**
 * Decides a batch in rounds. Each writes the ends and inserts what nobody has claimed, in one statement that also reads
 * the rows of the rest; then it takes over what is free, unless somebody was faster. One round and one statement are all
 * that first claims, duplicates and ends take; what changed in between goes through another. The insert alone decides
 * first claims; duplicates write nothing.
 */
public final class BatchExecutor {

    /** Contention costs two or three; each further round takes one more writer in between. */
    private static final int MAX_ROUNDS = 10;

    private final RetryingTransaction transaction;
    private final BatchStatement statement;
    private final TakeoverStep freeRows;
    private final LockedRowWait lockedRows;

    BatchExecutor(
            RetryingTransaction transaction,
            BatchStatement statement,
            TakeoverStep freeRows,
            LockedRowWait lockedRows) {
        this.transaction = transaction;
        this.statement = statement;
        this.freeRows = freeRows;
        this.lockedRows = lockedRows;
    }

    ClaimBatchResult apply(ClaimBatch batch) {
        UnwrittenEnds ends = new UnwrittenEnds(batch.ends());
        UndecidedClaims claims = new UndecidedClaims(batch.claims());
        int all = ends.openCount() + claims.openCount();
        for (int round = 0; ends.isOpen() || claims.isOpen(); round++) {
            requireMore(round, ends.openCount() + claims.openCount(), all);
            round(ends, claims);
        }
        return new ClaimBatchResult(ends.recorded(), claims.outcomes(), ends.locked());
    }

    private void round(UnwrittenEnds ends, UndecidedClaims claims) {
        Map<ClaimKey, ClaimEnd> ending = ends.next();
        List<ClaimRequest> claiming = claims.next(ending.keySet());
        BatchAnswer answer = transaction.execute(() -> statement.run(List.copyOf(ending.values()), claiming));
        freeRows.decide(claims.answered(answer));
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
