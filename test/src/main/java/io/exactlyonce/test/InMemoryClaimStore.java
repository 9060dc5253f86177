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
 * A claim store in this JVM's memory, for tests without a database. A bean of this type replaces the starter's store
 * and its parked claims. The store passes the same contract tests. Each write is conditional on the record that was
 * read, as in a key-value store.
 *
 * <p>The store's clock follows the JVM's or another clock. {@link #advance} and {@link #endLease} end leases without
 * waiting.
 *
 * <p>Not for production: claims end with the JVM, other JVMs do not see them, and records are never removed.
 */
public final class InMemoryClaimStore implements ClaimStore, ParkedClaims {

    private static final Comparator<ParkedClaim> OLDEST_FIRST = Comparator.comparing(ParkedClaim::parkedAt)
            .thenComparing(ParkedClaim::scope)
            .thenComparing(ParkedClaim::key);

    private final StoreClock clock;
    private final ClaimRecords records;

    /** Makes an empty store that uses the JVM's clock for leases. */
    public InMemoryClaimStore() {
        this(System::nanoTime);
    }

    /**
     * Makes an empty store.
     *
     * @param clock the clock for leases
     */
    public InMemoryClaimStore(NanoClock clock) {
        this.clock = new StoreClock(clock);
        this.records = new ClaimRecords(this.clock);
    }

    /**
     * Sets the clock forward, as if this much time had passed without a renewal.
     *
     * @param time the time, which must not be negative
     */
    public void advance(Duration time) {
        clock.advance(time);
    }

    /** Expires the lease of a claim that holds its key, as if its worker had died long ago. */
    public void endLease(ClaimId claim) {
        records.change(claim, held -> held.renewed(clock.now()));
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        // A claim that holds its key has priority over other claims of its batch, even if its lease has expired.
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

    /** Changes claims, and returns those whose records allowed the change. */
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
