package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.BatchExecutor;
import io.exactlyonce.claim.postgres.ClaimRow;
import io.exactlyonce.claim.postgres.FreeRowUpdates;
import io.exactlyonce.claim.postgres.RequestedRow;
import io.exactlyonce.primary.SynchronousCommit;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Claims single keys within a transaction of the application's own, as {@link BatchExecutor} does many in one of its
 * own. The planner is left as it is: what it is told would hold for the handler's statements, too, and looking up one
 * key by its primary key needs no help.
 */
final class TransactionalClaim {

    private static final int MAX_ROUNDS = 10;

    private final TransactionalClaimStatement statement;
    private final FreeRowUpdates updates;

    TransactionalClaim(JdbcTemplate jdbc, Duration retention, SynchronousCommit synchronousCommit) {
        this.statement = new TransactionalClaimStatement(jdbc, retention, synchronousCommit);
        this.updates = new FreeRowUpdates(jdbc, retention);
    }

    /**
     * Decides in rounds, since another transaction may write, change or delete the key's row in between. First claims
     * and duplicates take one round.
     */
    ClaimOutcome decide(ClaimRequest request) {
        RequestedRow entry = new RequestedRow(request);
        for (int round = 0; round < MAX_ROUNDS; round++) {
            ClaimOutcome outcome = round(entry);
            if (outcome != null) {
                return outcome;
            }
        }
        throw new ConcurrencyFailureException(
                "%s changed in each of %d rounds, so it was not claimed: try again".formatted(entry.key(), MAX_ROUNDS));
    }

    private @Nullable ClaimOutcome round(RequestedRow entry) {
        TransactionalClaimStatement.Answer answer = statement.run(entry.request());
        if (!answer.locked()) {
            // How long the holder will take is unknown: what a lease of our own would be is as good a guess as any.
            return new HeldElsewhere(entry.request().lease());
        }
        ClaimRow met = answer.met();
        return met == null ? answer.claimed() : decide(entry.met(met));
    }

    private @Nullable ClaimOutcome decide(RequestedRow met) {
        return met.row().isFree() ? write(met) : met.row().refusal(met.request());
    }

    private @Nullable ClaimOutcome write(RequestedRow free) {
        if (free.isLocked()) {
            return new HeldElsewhere(Duration.ZERO);
        }
        free.contest();
        if (free.mustBeParked()) {
            return updates.parkInDoubt(List.of(free)).isEmpty() ? null : new Parked();
        }
        return updates.takeOver(List.of(free)).isEmpty() ? null : free.row().next();
    }
}
