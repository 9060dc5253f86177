package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimsLockedException;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Answers requests for keys that were claimed before, and that are free now: takes them over, or parks them, each unless
 * another transaction was faster. And tells a request whose earlier reply was lost that it holds its key.
 */
final class TakeoverStep {

    private final RetryingTransaction transaction;
    private final FreeRowUpdates updates;
    private final LeaseRenewals renewals;

    TakeoverStep(RetryingTransaction transaction, FreeRowUpdates updates, LeaseRenewals renewals) {
        this.transaction = transaction;
        this.updates = updates;
        this.renewals = renewals;
    }

    /** Decides what it can; what has changed since it was read stays undecided. */
    void decide(List<RequestedRow> found) {
        List<RequestedRow> own = new ArrayList<>();
        Map<ClaimKey, RequestedRow> free = new TreeMap<>();
        Map<ClaimKey, RequestedRow> inDoubt = new TreeMap<>();
        for (RequestedRow row : found) {
            if (row.isOwn()) {
                own.add(row);
            } else {
                // Also those that are not tried: a row that this one cannot write is locked for them, too.
                row.contest();
                (row.mustBeParked() ? inDoubt : free).putIfAbsent(row.key(), row);
            }
        }
        holdAgain(own);
        // Nothing is decided before the commit: a transaction that is repeated may end otherwise.
        write(free, updates::takeOver).forEach(won -> won.decide(won.row().next()));
        write(inDoubt, updates::parkInDoubt).forEach(parked -> parked.decide(new Parked()));
    }

    private List<RequestedRow> write(
            Map<ClaimKey, RequestedRow> rows, Function<List<RequestedRow>, List<RequestedRow>> update) {
        return rows.isEmpty() ? List.of() : transaction.execute(() -> update.apply(List.copyOf(rows.values())));
    }

    /** The caller counts its lease from this try on, so the row has to as well. */
    private void holdAgain(List<RequestedRow> own) {
        try {
            Set<ClaimId> held = renewals.renew(own.stream()
                    .map(RequestedRow::request)
                    .map(request -> new LeaseRenewal(request.id(), request.lease()))
                    .toList());
            decideHeld(own, held);
        } catch (ClaimsLockedException locked) {
            decideHeld(own, locked.granted());
            // Another transaction is just taking it over, as far as can be seen.
            own.stream()
                    .filter(found -> locked.locked().contains(found.request().id()))
                    .forEach(found -> found.decide(new HeldElsewhere(Duration.ZERO)));
        }
    }

    private static void decideHeld(List<RequestedRow> own, Set<ClaimId> held) {
        own.stream()
                .filter(found -> held.contains(found.request().id()))
                .forEach(found -> found.decide(found.row().current()));
    }
}
