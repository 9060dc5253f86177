package io.exactlyonce.test.kit;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.InMemoryClaimStore;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Claims in memory. The store can be made unavailable, and ignores calls of crashed workers. Answers arrive at once.
 */
final class TestStore implements ClaimStore, AsyncClaimStore, ParkedClaims {

    private final TestClock clock;
    private final Journal journal;
    private final Map<ClaimId, Long> leaseEnds = new ConcurrentHashMap<>();
    private volatile InMemoryClaimStore claims;
    private volatile boolean away;

    TestStore(TestClock clock, Journal journal) {
        this.clock = clock;
        this.journal = journal;
        this.claims = new InMemoryClaimStore(clock);
    }

    void forgetAll() {
        leaseEnds.clear();
        claims = new InMemoryClaimStore(clock);
        away = false;
    }

    void setAway(boolean away) {
        this.away = away;
    }

    boolean isAway() {
        return away;
    }

    /** Returns the claims even while the store is unavailable. */
    InMemoryClaimStore claims() {
        return claims;
    }

    void endLease(ClaimId claim) {
        leaseEnds.put(claim, clock.nanoTime());
        claims.endLease(claim);
    }

    /** Returns the time until a claim's lease expires without renewal. */
    Duration leaseLeft(ClaimId claim) {
        return Duration.ofNanos(Math.max(0, leaseEnds.getOrDefault(claim, 0L) - clock.nanoTime()));
    }

    private InMemoryClaimStore present() {
        if (away) {
            throw new ClaimStoreUnavailableException("The test has made the claim store fail", null);
        }
        return claims;
    }

    private boolean isAlive(ClaimId claim) {
        return journal.of(claim).filter(Delivered::isCrashed).isEmpty();
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        if (away) {
            requests.forEach(request -> journal.of(request.id()).ifPresent(Delivered::unanswered));
        }
        List<ClaimOutcome> outcomes = present().claim(requests);
        requests.forEach(request ->
                leaseEnds.put(request.id(), clock.nanoTime() + request.lease().toNanos()));
        return outcomes;
    }

    @Override
    public ClaimAnswers renew(List<LeaseRenewal> renewals) {
        List<LeaseRenewal> alive =
                renewals.stream().filter(renewal -> isAlive(renewal.claim())).toList();
        Set<ClaimId> renewed = present().renew(alive).granted();
        markLost(alive.stream().map(LeaseRenewal::claim), renewed);
        alive.stream()
                .filter(renewal -> renewed.contains(renewal.claim()))
                .forEach(renewal -> leaseEnds.put(
                        renewal.claim(), clock.nanoTime() + renewal.lease().toNanos()));
        return new ClaimAnswers(renewed);
    }

    @Override
    public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
        InMemoryClaimStore store = present();
        resolutions.forEach(end -> crash(end.claim(), CrashPoint.AFTER_HANDLER));
        List<? extends ClaimResolution> alive =
                resolutions.stream().filter(end -> isAlive(end.claim())).toList();
        Set<ClaimId> recorded =
                alive.isEmpty() ? Set.of() : store.resolve(alive).granted();
        markLost(alive.stream().map(ClaimResolution::claim), recorded);
        resolutions.stream()
                .filter(end -> end instanceof ClaimResolution.Completed && recorded.contains(end.claim()))
                .forEach(end -> crash(end.claim(), CrashPoint.AFTER_COMPLETION));
        return new ClaimAnswers(recorded);
    }

    private void markLost(Stream<ClaimId> asked, Set<ClaimId> held) {
        asked.filter(claim -> !held.contains(claim))
                .forEach(claim -> journal.of(claim).ifPresent(Delivered::lose));
    }

    private void crash(ClaimId claim, CrashPoint here) {
        journal.of(claim).filter(each -> each.crashesAt(here)).ifPresent(Delivered::crash);
    }

    @Override
    public CompletableFuture<Claimed> claimAsync(List<ClaimRequest> requests) {
        long askedAt = clock.nanoTime();
        return answer(() -> new Claimed(claim(requests), askedAt));
    }

    @Override
    public CompletableFuture<ClaimAnswers> resolveAsync(
            List<? extends ClaimResolution> resolutions, boolean isAwaited) {
        return answer(() -> resolve(resolutions));
    }

    private static <T> CompletableFuture<T> answer(Supplier<T> call) {
        try {
            return CompletableFuture.completedFuture(call.get());
        } catch (RuntimeException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    @Override
    public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        return present().peek(keys);
    }

    @Override
    public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        return present().list(after, limit);
    }

    @Override
    public Optional<ParkedClaim> find(ClaimKey key) {
        return present().find(key);
    }

    @Override
    public Optional<ClaimDetails> details(ClaimKey key) {
        return present().details(key);
    }

    @Override
    public Set<ClaimId> releaseAll(Collection<ClaimId> claims) {
        return present().releaseAll(claims);
    }

    @Override
    public Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions) {
        return present().completeAll(completions);
    }
}
