package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.BatchExecutor;
import io.exactlyonce.claim.postgres.FreeRowUpdates;
import io.exactlyonce.claim.postgres.RequestedRow;
import io.exactlyonce.primary.SynchronousCommit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Claims keys within a transaction of the application's own, as {@link BatchExecutor} does in one of its own.
 */
final class TransactionalClaim {

    private static final int MAX_ROUNDS = 10;

    private final TransactionalClaimStatements statements;
    private final FreeRowUpdates updates;

    TransactionalClaim(JdbcTemplate jdbc, Duration retention, SynchronousCommit synchronousCommit) {
        this.statements = new TransactionalClaimStatements(jdbc, retention, synchronousCommit);
        this.updates = new FreeRowUpdates(jdbc, retention);
    }

    /**
     * Decides in rounds, since another transaction may write, change or delete a key's row in between. First claims
     * and duplicates take one round.
     *
     * @param mark marks the transaction until it ends
     * @return one outcome for each request, in their order
     */
    List<ClaimOutcome> decide(List<ClaimRequest> requests, String mark) {
        List<RequestedRow> entries = requests.stream().map(RequestedRow::new).toList();
        List<RequestedRow> open = firstOfEachKey(entries);
        for (int round = 0; !open.isEmpty(); round++) {
            if (round == MAX_ROUNDS) {
                throw new ConcurrencyFailureException(
                        "%d of %d keys changed in each of %d rounds, so none was claimed: try again"
                                .formatted(open.size(), requests.size(), MAX_ROUNDS));
            }
            statements.run(open, mark);
            write(open.stream().filter(RequestedRow::isOpen).toList());
            open = open.stream().filter(RequestedRow::isOpen).toList();
        }
        return entries.stream().map(RequestedRow::outcome).toList();
    }

    /** In key order, as all that write claims. A second request for a key finds it held by the first one. */
    private static List<RequestedRow> firstOfEachKey(List<RequestedRow> entries) {
        Map<ClaimKey, RequestedRow> first = new TreeMap<>();
        for (RequestedRow entry : entries) {
            if (first.putIfAbsent(entry.key(), entry) != null) {
                entry.decide(new HeldElsewhere(entry.request().lease()));
            }
        }
        return List.copyOf(first.values());
    }

    /** Takes over or parks rows that were met and are free; a row too young to be met is asked for again. */
    private void write(List<RequestedRow> open) {
        List<RequestedRow> free = open.stream().filter(RequestedRow::isMet).toList();
        free.stream()
                .filter(RequestedRow::isOutOfReach)
                .forEach(refused -> refused.decide(new HeldElsewhere(Duration.ZERO)));
        List<RequestedRow> contested =
                free.stream().filter(RequestedRow::isOpen).toList();
        contested.forEach(RequestedRow::contest);
        updates.takeOver(contested.stream().filter(row -> !row.mustBeParked()).toList())
                .forEach(won -> won.decide(won.row().next()));
        updates.parkInDoubt(
                        contested.stream().filter(RequestedRow::mustBeParked).toList())
                .forEach(parked -> parked.decide(new Parked()));
    }
}
