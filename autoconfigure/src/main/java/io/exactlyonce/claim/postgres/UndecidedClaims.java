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

/** The requests of a batch, and what they have been answered so far. Used by one thread. */
final class UndecidedClaims {

    private final List<RequestedRow> entries;
    private List<RequestedRow> open;

    UndecidedClaims(List<ClaimRequest> requests) {
        this.entries = requests.stream().map(RequestedRow::new).toList();
        this.open =
                entries.stream().sorted(Comparator.comparing(RequestedRow::key)).toList();
    }

    boolean isOpen() {
        return !open.isEmpty();
    }

    int openCount() {
        return open.size();
    }

    /** Returns what the next run may claim, in key order: one request for each key, and none for a key that ends. */
    List<ClaimRequest> next(Set<ClaimKey> ending) {
        Set<ClaimKey> keys = new HashSet<>(ending);
        List<ClaimRequest> next = new ArrayList<>();
        for (RequestedRow entry : open) {
            if (keys.add(entry.key())) {
                next.add(entry.request());
            }
        }
        return next;
    }

    /** Returns requests whose key's row was met, and does not refuse them; all other ones are answered, or stay open. */
    List<RequestedRow> answered(BatchReply answer) {
        List<RequestedRow> undecided = new ArrayList<>();
        for (RequestedRow entry : open) {
            Acquired acquired = answer.claimed(entry.request().id());
            ClaimRow row = answer.met(entry.key());
            if (acquired != null) {
                entry.decide(acquired);
            } else if (row != null) {
                decide(entry.met(row), undecided);
            }
        }
        return undecided;
    }

    private static void decide(RequestedRow found, List<RequestedRow> undecided) {
        if (found.row().isFree() && found.isOutOfReach()) {
            found.decide(new ClaimOutcome.HeldElsewhere(Duration.ZERO));
        } else if (found.isOwn() || found.row().isFree()) {
            undecided.add(found);
        } else {
            found.decide(found.row().refusal(found.request()));
        }
    }

    void forgetDecided() {
        open = open.stream().filter(RequestedRow::isOpen).toList();
    }

    /** Returns one outcome for each request, in the batch's order. */
    List<ClaimOutcome> outcomes() {
        return entries.stream().map(RequestedRow::outcome).toList();
    }
}
