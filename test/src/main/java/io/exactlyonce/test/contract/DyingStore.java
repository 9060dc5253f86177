package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Passes one worker's calls to the store under test until the worker dies. After its death, each call throws
 * {@link Death} and does not reach the store.
 */
final class DyingStore implements ClaimStore {

    private final StoreUnderTest underTest;
    private final CrashStep point;
    private final Set<ClaimId> claims = ConcurrentHashMap.newKeySet();
    private final Set<ClaimId> renewed = ConcurrentHashMap.newKeySet();
    private final Set<ClaimId> completed = ConcurrentHashMap.newKeySet();
    private volatile boolean dead;

    DyingStore(StoreUnderTest underTest, CrashStep point) {
        this.underTest = underTest;
        this.point = point;
    }

    /** Throws {@link Death} if the worker must die at this step, or has died before. */
    void dieAt(CrashStep reached) {
        if (dead || reached == point) {
            dead = true;
            throw new Death();
        }
    }

    /** Ends the leases of all claims of this worker, as if the worker had not renewed them for long. */
    void endLeases() {
        claims.forEach(underTest::endLease);
    }

    boolean hasRenewed() {
        return !renewed.isEmpty();
    }

    /** Returns whether the store recorded a completion, even if the worker got no answer. */
    boolean hasCompleted() {
        return !completed.isEmpty();
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        dieAt(CrashStep.BEFORE_CLAIM);
        requests.forEach(request -> claims.add(request.id()));
        List<ClaimOutcome> outcomes = underTest.store().claim(requests);
        dieAt(CrashStep.AFTER_CLAIM);
        return outcomes;
    }

    @Override
    public ClaimAnswers renew(List<LeaseRenewal> renewals) {
        ClaimAnswers held = alive(() -> underTest.store().renew(renewals));
        renewed.addAll(held.granted());
        return held;
    }

    @Override
    public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
        resolutions.forEach(this::dieBefore);
        ClaimAnswers recorded = alive(() -> underTest.store().resolve(resolutions));
        for (ClaimResolution resolution : resolutions) {
            if (resolution instanceof ClaimResolution.Completed
                    && recorded.granted().contains(resolution.claim())) {
                completed.add(resolution.claim());
            }
        }
        resolutions.forEach(this::dieAfter);
        return recorded;
    }

    private void dieBefore(ClaimResolution resolution) {
        if (resolution instanceof ClaimResolution.Completed) {
            dieAt(CrashStep.BEFORE_COMPLETION);
        } else if (resolution instanceof ClaimResolution.Released) {
            dieAt(CrashStep.BEFORE_RELEASE);
        }
    }

    private void dieAfter(ClaimResolution resolution) {
        if (resolution instanceof ClaimResolution.Completed) {
            dieAt(CrashStep.AFTER_COMPLETION);
        } else if (resolution instanceof ClaimResolution.Released) {
            dieAt(CrashStep.AFTER_RELEASE);
        }
    }

    @Override
    public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        return alive(() -> underTest.store().peek(keys));
    }

    private <T> T alive(Supplier<T> call) {
        if (dead) {
            throw new Death();
        }
        return call.get();
    }

    /** Ends all work of the worker. This class extends {@link Error}, because the engine would handle an exception. */
    static final class Death extends Error {

        Death() {
            super("The worker is dead", null, false, false);
        }
    }
}
