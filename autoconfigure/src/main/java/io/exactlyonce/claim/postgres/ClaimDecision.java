package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.LeaseRenewal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.dao.ConcurrencyFailureException;

/**
 * Decides a batch of claims within the caller's transaction: inserts what nobody has claimed, reads the rows of the
 * rest, and takes over what is free unless somebody was faster. What changed in between goes through another round. The
 * insert alone decides first claims; duplicates write nothing.
 */
final class ClaimDecision {

    /** Contention costs two or three; each further round takes one more writer in between. */
    private static final int MAX_ROUNDS = 10;

    private final FirstClaims firstClaims;
    private final ClaimRows rows;
    private final Takeovers takeovers;
    private final Parkings parkings;
    private final Renewals renewals;

    ClaimDecision(FirstClaims firstClaims, ClaimRows rows, Takeovers takeovers, Parkings parkings, Renewals renewals) {
        this.firstClaims = firstClaims;
        this.rows = rows;
        this.takeovers = takeovers;
        this.parkings = parkings;
        this.renewals = renewals;
    }

    /** Returns one outcome for each request, in the same order. */
    List<ClaimOutcome> decide(List<ClaimRequest> requests) {
        List<BatchEntry> entries = requests.stream().map(BatchEntry::new).toList();
        List<BatchEntry> open =
                entries.stream().sorted(Comparator.comparing(BatchEntry::key)).toList();
        for (int round = 0; round < MAX_ROUNDS && !open.isEmpty(); round++) {
            insert(open);
            answerByRows(stillOpen(open));
            open = stillOpen(open);
        }
        if (!open.isEmpty()) {
            throw new ConcurrencyFailureException(
                    "%d of %d keys changed in each of %d rounds, so nothing was claimed: try the batch again (first: %s)"
                            .formatted(
                                    open.size(),
                                    requests.size(),
                                    MAX_ROUNDS,
                                    open.get(0).key()));
        }
        return entries.stream().map(BatchEntry::outcome).toList();
    }

    private void insert(List<BatchEntry> open) {
        Map<ClaimKey, BatchEntry> firstOfKey = new TreeMap<>();
        open.forEach(entry -> firstOfKey.putIfAbsent(entry.key(), entry));
        Map<ClaimKey, Acquired> acquired = firstClaims.claim(
                firstOfKey.values().stream().map(BatchEntry::request).toList());
        firstOfKey.forEach((key, entry) -> {
            Acquired outcome = acquired.get(key);
            if (outcome != null) {
                entry.decide(outcome);
            }
        });
    }

    private void answerByRows(List<BatchEntry> open) {
        if (open.isEmpty()) {
            return;
        }
        List<RequestedRow> own = new ArrayList<>();
        Map<ClaimKey, RequestedRow> free = new TreeMap<>();
        Map<ClaimKey, RequestedRow> inDoubt = new TreeMap<>();
        for (RequestedRow found : find(open)) {
            if (found.isOwn()) {
                own.add(found);
            } else if (!found.row().isFree()) {
                found.entry().decide(found.row().refusal(found.entry().request()));
            } else if (found.mustBeParked()) {
                inDoubt.putIfAbsent(found.key(), found);
            } else {
                free.putIfAbsent(found.key(), found);
            }
        }
        holdAgain(own);
        takeovers
                .takeOver(List.copyOf(free.values()))
                .forEach(won -> won.entry().decide(won.row().next()));
        parkings.parkInDoubt(List.copyOf(inDoubt.values()))
                .forEach(parked -> parked.entry().decide(new Parked()));
    }

    /** A row may be gone since the insert met it: its request is left out, and stays open. */
    private List<RequestedRow> find(List<BatchEntry> open) {
        Map<ClaimKey, ClaimRow> found =
                rows.read(open.stream().map(BatchEntry::key).distinct().toList());
        List<RequestedRow> requestedRows = new ArrayList<>();
        for (BatchEntry entry : open) {
            ClaimRow row = found.get(entry.key());
            if (row != null) {
                requestedRows.add(new RequestedRow(entry, row));
            }
        }
        return requestedRows;
    }

    /** The reply to an earlier try was lost. The caller counts its lease from this try on, so the row has to as well. */
    private void holdAgain(List<RequestedRow> own) {
        Set<ClaimId> held = renewals.renew(own.stream()
                .map(found -> found.entry().request())
                .map(request -> new LeaseRenewal(request.id(), request.lease()))
                .toList());
        own.stream()
                .filter(found -> held.contains(found.entry().request().id()))
                .forEach(found -> found.entry().decide(found.row().current()));
    }

    private static List<BatchEntry> stillOpen(List<BatchEntry> entries) {
        return entries.stream().filter(BatchEntry::isOpen).toList();
    }
}
