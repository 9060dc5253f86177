package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The requests of a batch, and what they have been answered so far. Used by one thread. */
final class UndecidedClaims {

    private final List<BatchEntry> entries;
    private List<BatchEntry> open;

    UndecidedClaims(List<ClaimRequest> requests) {
        this.entries = requests.stream().map(BatchEntry::new).toList();
        this.open =
                entries.stream().sorted(Comparator.comparing(BatchEntry::key)).toList();
    }

    boolean isOpen() {
        return !open.isEmpty();
    }

    int openCount() {
        return open.size();
    }

    /**
     * Returns what the next run may claim, in key order: one request for each key and for each claim's id, by which the
     * statement tells them apart, and none for a key that ends.
     */
    List<ClaimRequest> next(Set<ClaimKey> ending) {
        Set<ClaimKey> keys = new HashSet<>(ending);
        Set<UUID> ids = new HashSet<>();
        List<ClaimRequest> next = new ArrayList<>();
        for (BatchEntry entry : open) {
            if (!ids.contains(entry.request().claimId()) && keys.add(entry.key())) {
                ids.add(entry.request().claimId());
                next.add(entry.request());
            }
        }
        return next;
    }

    /** Returns requests whose key's row was met, and does not refuse them; the others are answered, or stay open. */
    List<RequestedRow> answered(BatchAnswer answer) {
        List<RequestedRow> undecided = new ArrayList<>();
        for (BatchEntry entry : open) {
            Acquired acquired = answer.claimed(entry.request().id());
            ClaimRow row = answer.met(entry.key());
            if (acquired != null) {
                entry.decide(acquired);
            } else if (row != null) {
                decide(new RequestedRow(entry, row), undecided);
            }
        }
        return undecided;
    }

    private static void decide(RequestedRow found, List<RequestedRow> undecided) {
        if (found.row().isFree() && found.isLocked()) {
            // For how long, nobody knows.
            found.entry().decide(new ClaimOutcome.HeldElsewhere(Duration.ZERO));
        } else if (found.isOwn() || found.row().isFree()) {
            undecided.add(found);
        } else {
            found.entry().decide(found.row().refusal(found.entry().request()));
        }
    }

    void forgetDecided() {
        open = open.stream().filter(BatchEntry::isOpen).toList();
    }

    /** Returns one outcome for each request, in the batch's order. */
    List<ClaimOutcome> outcomes() {
        return entries.stream().map(BatchEntry::outcome).toList();
    }
}
