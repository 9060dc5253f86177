package io.exactlyonce.test;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.claim.Release;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Claims in this JVM's memory, for tests of listeners without a database. Declared as a bean, it takes the place of the
 * store that the starter brings. It keeps the same contract; each write is conditional on the record that was read, as it
 * would be in a key-value store.
 *
 * <p>Its clock runs with the JVM's, and jumps at a test's word: {@link #advance} and {@link #endLease} end leases without
 * waiting.
 *
 * <p>Not for production: nothing survives the JVM, other JVMs do not see its claims, and records are never removed.
 */
public final class InMemoryClaimStore implements ClaimStore {

    private final ConcurrentMap<ClaimKey, ClaimRecord> records = new ConcurrentHashMap<>();
    private final AtomicReference<Duration> jumps = new AtomicReference<>(Duration.ZERO);

    /**
     * Sets the clock forward, as if this much time had passed in which nobody renewed anything.
     *
     * @param time not negative
     */
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException(
                    "time (%s) must not be negative: leases only grow older".formatted(time));
        }
        jumps.accumulateAndGet(time, Duration::plus);
    }

    /** Makes the lease of one claim end now, if the claim holds its key: as if its worker had vanished long ago. */
    public void endLease(ClaimId claim) {
        change(claim, held -> held.renewed(now()));
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return requests.stream().map(this::claim).toList();
    }

    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> renewals) {
        return change(renewals, LeaseRenewal::claim, (claim, renewal) -> claim.renewed(now().plus(renewal.lease())));
    }

    @Override
    public Set<ClaimId> complete(List<Completion> completions) {
        return change(completions, Completion::claim, (claim, completion) -> claim.completed(completion.result()));
    }

    @Override
    public Set<ClaimId> release(List<Release> releases) {
        return change(releases, Release::claim, (claim, release) -> claim.released(release.ambiguous()));
    }

    @Override
    public Set<ClaimId> park(List<Parking> parkings) {
        return change(parkings, Parking::claim, (claim, parking) -> claim.parked());
    }

    private ClaimOutcome claim(ClaimRequest request) {
        while (true) {
            Duration now = now();
            ClaimRecord first = ClaimRecord.first(request, now);
            ClaimRecord read = records.putIfAbsent(request.key(), first);
            if (read == null) {
                return first.acquired();
            }
            ClaimRecord next = read.claimed(request, now);
            if (records.replace(request.key(), read, next)) {
                return next.answer(request, now);
            }
        }
    }

    /** Returns the claims whose record allows the change and was changed. */
    private <T> Set<ClaimId> change(
            Collection<T> changes,
            Function<T, ClaimId> claim,
            BiFunction<ClaimRecord, T, Optional<ClaimRecord>> operation) {
        return changes.stream()
                .filter(change -> change(claim.apply(change), record -> operation.apply(record, change)))
                .map(claim)
                .collect(Collectors.toSet());
    }

    private boolean change(ClaimId claim, Function<ClaimRecord, Optional<ClaimRecord>> operation) {
        while (true) {
            ClaimRecord read = records.get(claim.key());
            if (read == null || !read.claimId().equals(claim.value())) {
                return false;
            }
            Optional<ClaimRecord> next = operation.apply(read);
            if (next.isEmpty()) {
                return false;
            }
            if (records.replace(claim.key(), read, next.get())) {
                return true;
            }
        }
    }

    private Duration now() {
        return Duration.ofNanos(System.nanoTime()).plus(jumps.get());
    }
}
