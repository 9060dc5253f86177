package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimsLockedException;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.LeaseRenewal;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The answers to one call's renewals, chunk by chunk. Each lease has its own answer. Used by one thread. */
final class RenewalChunks {

    private final Set<ClaimId> granted = new HashSet<>();
    private final Set<ClaimId> unanswered = new HashSet<>();
    private int failedLeases;
    private @Nullable RuntimeException firstFailure;

    /** Renews a chunk; if the store fails, only this chunk's leases go without an answer. */
    void renew(ClaimStore store, List<LeaseRenewal> chunk) {
        try {
            granted.addAll(store.renew(chunk));
        } catch (ClaimsPartlyAnsweredException some) {
            granted.addAll(some.granted());
            unanswered.addAll(some.unanswered());
        } catch (RuntimeException failure) {
            fail(chunk, failure);
        }
    }

    /** Notes leases for which the store gave no answer, or was not asked. */
    void fail(List<LeaseRenewal> leases, RuntimeException failure) {
        leases.forEach(lease -> unanswered.add(lease.claim()));
        failedLeases += leases.size();
        firstFailure = firstFailure == null ? failure : firstFailure;
    }

    /**
     * Returns the claims that are held.
     *
     * @param asked how many leases the call had
     * @throws ClaimsPartlyAnsweredException if some leases got no answer
     * @throws RuntimeException the first failure, if none did
     */
    Set<ClaimId> held(int asked) {
        // Of two renewals of one claim, one that was answered is enough.
        unanswered.removeAll(granted);
        if (firstFailure == null) {
            return ClaimsLockedException.requireNone(unanswered, granted);
        }
        if (failedLeases == asked) {
            throw firstFailure;
        }
        throw new ClaimsPartlyAnsweredException(
                "%d of %d leases got no answer: %s".formatted(unanswered.size(), asked, firstFailure.getMessage()),
                unanswered,
                granted,
                firstFailure);
    }
}
