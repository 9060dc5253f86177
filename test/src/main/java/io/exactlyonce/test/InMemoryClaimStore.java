package io.exactlyonce.test;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A claim store in this JVM's memory, for tests without a database. A bean of this type replaces the starter's claim
 * store and the starter's {@link ParkedClaims}. The store passes the same contract tests as the other claim stores.
 *
 * <p>The store's clock decides when leases end. The store's clock follows the JVM's clock, or a clock that the test
 * passes. With {@link #advance} and {@link #endLease}, a test ends leases without waiting.
 *
 * <p>Do not use this store in production, because claims end with the JVM, other JVMs do not see them, and records are
 * never removed.
 */
public final class InMemoryClaimStore implements ClaimStore, ParkedClaims {

    private static final Comparator<ParkedClaim> OLDEST_FIRST = Comparator.comparing(ParkedClaim::parkedAt)
            .thenComparing(ParkedClaim::scope)
            .thenComparing(ParkedClaim::key);

    private final StoreClock clock;
    private final ClaimRecords records;

    /** Makes an empty store whose leases end by the JVM's clock. */
    public InMemoryClaimStore() {
        this(System::nanoTime);
    }

    /**
     * Makes an empty store.
     *
     * @param clock the clock that decides when leases end
     */
    public InMemoryClaimStore(NanoClock clock) {
        this.clock = new StoreClock(clock);
        this.records = new ClaimRecords(this.clock);
    }

    /**
     * Sets the store's clock forward, as if this time had passed and no lease had been renewed.
     *
     * @param time the time, which must not be negative
     */
    public void advance(Duration time) {
        clock.advance(time);
    }

    /**
     * Expires the lease of a claim, as if its worker had died long ago. Does nothing if the claim does not hold its
     * key.
     */
    public void endLease(ClaimId claim) {
        records.change(claim, held -> held.renewed(clock.now()));
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        // If the reply to a claim was lost, the engine repeats the claim. Such repeats are handled first. Otherwise, if
        // the lease has expired, another request of this batch could take the key over.
        requests.stream().filter(records::isHeldBy).forEach(records::claim);
        return requests.stream().map(records::claim).toList();
    }

    @Override
    public ClaimAnswers renew(List<LeaseRenewal> renewals) {
        return change(
                renewals,
                LeaseRenewal::claim,
                (claim, renewal) -> claim.renewed(clock.now().plus(renewal.lease())));
    }

    @Override
    public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
        return change(resolutions, ClaimResolution::claim, this::ended);
    }

    private Optional<ClaimRecord> ended(ClaimRecord claim, ClaimResolution resolution) {
        if (resolution instanceof ClaimResolution.Completed completed) {
            return claim.completed(completed.result());
        }
        if (resolution instanceof ClaimResolution.Released released) {
            return claim.released(released);
        }
        return claim.parked((ClaimResolution.Parked) resolution, clock.now());
    }

    @Override
    public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        return keys.stream().collect(Collectors.toMap(Function.identity(), records::state));
    }

    @Override
    public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        return records.parked()
                .filter(claim -> after == null || OLDEST_FIRST.compare(claim, after) > 0)
                .sorted(OLDEST_FIRST)
                .limit(limit)
                .toList();
    }

    @Override
    public Optional<ParkedClaim> find(ClaimKey key) {
        return records.parked(key);
    }

    @Override
    public Optional<ClaimDetails> details(ClaimKey key) {
        return records.details(key);
    }

    @Override
    public Set<ClaimId> releaseAll(Collection<ClaimId> claims) {
        return change(claims, Function.identity(), (parked, claim) -> parked.cleared())
                .granted();
    }

    @Override
    public Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions) {
        return change(
                        completions,
                        ClaimResolution.Completed::claim,
                        (parked, completion) -> parked.settled(completion.result()))
                .granted();
    }

    /** Changes the records of claims. Returns the claims whose records were changed. */
    private <T> ClaimAnswers change(
            Collection<? extends T> changes,
            Function<T, ClaimId> claim,
            BiFunction<ClaimRecord, T, Optional<ClaimRecord>> operation) {
        return new ClaimAnswers(changes.stream()
                .filter(change -> records.change(claim.apply(change), record -> operation.apply(record, change)))
                .map(claim)
                .collect(Collectors.toSet()));
    }
}
