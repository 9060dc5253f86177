package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.acquire;
import static io.exactlyonce.test.contract.Claims.claim;
import static io.exactlyonce.test.contract.Claims.complete;
import static io.exactlyonce.test.contract.Claims.fail;
import static io.exactlyonce.test.contract.Claims.newKey;
import static io.exactlyonce.test.contract.Claims.release;
import static io.exactlyonce.test.contract.Claims.renew;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.ParkedClaims.Filter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The contract of {@link ParkedClaims}, as JUnit tests. An implementation needs two tests: one extends this class, and
 * the other one extends {@link ClaimStoreContract}.
 *
 * <p>Every test uses its own keys. Some tests list all parked claims of the store, so no other test may park claims in
 * the same store at the same time.
 */
public abstract class ParkedClaimsContract implements StoreUnderTest {

    private static final int PAGE = 100;

    /** Returns the store under test. */
    @Override
    public abstract ClaimStore store();

    /** Returns the parked claims of the store under test. */
    public abstract ParkedClaims parked();

    /** Expires the lease of a claim, as if its owner had stopped renewing the lease. */
    @Override
    public abstract void endLease(ClaimId claim);

    @Test
    void parkedClaimIsFoundWithWhatAPersonNeedsToKnow() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);
        endLease(first.id());
        ClaimRequest second = request(first.key());
        acquire(store(), second);

        park(second, "card expired", false);

        assertThat(parked().find(second.key())).hasValueSatisfying(found -> {
            assertThat(found.scope()).isEqualTo(second.key().scope());
            assertThat(found.key()).isEqualTo(second.key().key());
            assertThat(found.claimId()).isEqualTo(second.claimId());
            assertThat(found.attempt()).isEqualTo(2);
            assertThat(found.isInDoubt()).isTrue();
            assertThat(found.reason()).isEqualTo("card expired");
            assertThat(found.parkedAt()).isAfter(Instant.EPOCH);
            assertThat(found.toString()).doesNotContain(found.key());
        });
    }

    @Test
    void claimThatWasStoppedFromOutsideIsParkedInDoubt() {
        assertThat(find(parkedClaim(true)).isInDoubt()).isTrue();
        assertThat(find(parkedClaim(false)).isInDoubt()).isFalse();
    }

    @Test
    void abandonedKeyIsFoundOnceACautiousRequestHasParkedIt() {
        ClaimRequest crashed = request(newKey());
        acquire(store(), crashed);
        endLease(crashed.id());

        claim(store(), cautious(crashed.key()));

        ParkedClaim found = find(crashed);
        assertThat(found.claimId()).isEqualTo(crashed.claimId());
        assertThat(found.isInDoubt()).isTrue();
        assertThat(found.reason()).isNotBlank();
    }

    @Test
    void abandonedKeyIsNotParkedForTheFailureOfAnEarlierAttempt() {
        ClaimRequest failed = request(newKey());
        acquire(store(), failed);
        resolve(new ClaimResolution.Released(failed.id(), "card refused", false, true));
        ClaimRequest crashed = request(failed.key());
        acquire(store(), crashed);
        endLease(crashed.id());

        claim(store(), cautious(crashed.key()));

        assertThat(find(crashed).reason()).startsWith("its owner vanished");
    }

    @Test
    void keyThatWasReleasedInDoubtIsParkedForTheReasonOfItsRelease() {
        ClaimRequest stopped = request(newKey());
        acquire(store(), stopped);
        resolve(new ClaimResolution.Released(stopped.id(), "stopped from outside", true, false));

        claim(store(), cautious(stopped.key()));

        assertThat(find(stopped).reason()).isEqualTo("stopped from outside");
    }

    @Test
    void otherKeysAreNotFound() {
        ClaimRequest held = request(newKey());
        acquire(store(), held);

        assertThat(parked().find(held.key())).isEmpty();
        assertThat(parked().find(newKey())).isEmpty();
    }

    @Test
    void parkedKeyIsFoundByTheHashThatLogsShow() {
        ClaimRequest other = parkedClaim(false);
        ClaimRequest parked = parkedClaim(false);
        ClaimKey key = parked.key();

        assertThat(parked().findByKeyHash(key.scope(), key.keyHash()))
                .hasValueSatisfying(found -> assertThat(found.claimId()).isEqualTo(parked.claimId()));
        assertThat(parked().findByKeyHash(key.scope() + "-other", key.keyHash()))
                .isEmpty();

        parked().release(parked.id());
        assertThat(parked().findByKeyHash(key.scope(), key.keyHash())).isEmpty();
        assertThat(parked().find(other.key())).isPresent();
    }

    @Test
    void listBeginsWithTheLongestParkedAndContinuesAfterAnyOfThem() {
        List<ClaimKey> keys = List.of(
                parkedClaim(false).key(),
                parkedClaim(false).key(),
                parkedClaim(false).key());

        List<ParkedClaim> all = everyPage();
        assertThat(all).extracting(ParkedClaimsContract::key).containsSubsequence(keys);

        ParkedClaim first = find(all, keys.get(0));
        assertThat(parked().list(first, 1_000))
                .extracting(ParkedClaimsContract::key)
                .containsExactly(keys.get(1), keys.get(2));
        assertThat(parked().list(first, 1))
                .extracting(ParkedClaimsContract::key)
                .containsExactly(keys.get(1));
        parked().release(idOf(first));
        assertThat(parked().list(first, 1_000))
                .extracting(ParkedClaimsContract::key)
                .containsExactly(keys.get(1), keys.get(2));
        assertThat(everyPage()).extracting(ParkedClaimsContract::key).doesNotContain(keys.get(0));
    }

    @Test
    void filterAdmitsClaimsByScopeReasonAndTime() {
        String type = "shop.CardExpired-" + UUID.randomUUID();
        ClaimRequest first = parkedFor(type + ": of a customer");
        ClaimRequest other = parkedFor(type + "Early: of a customer");
        ClaimRequest second = parkedFor(type);
        String scope = first.key().scope();
        ParkedClaim seen = find(first);

        assertThat(matching(new Filter(scope, type, null, null))).containsExactly(first.key(), second.key());
        assertThat(matching(new Filter(null, type + "Early", null, null))).containsExactly(other.key());
        assertThat(matching(new Filter(scope + "-other", type, null, null))).isEmpty();
        assertThat(parked().listMatching(new Filter(null, type, null, null), 1))
                .extracting(ParkedClaimsContract::key)
                .containsExactly(first.key());
        assertThat(matching(new Filter(null, null, seen.parkedAt(), null))).contains(first.key(), second.key());
        assertThat(parked().listMatching(new Filter(scope, null, null, seen.parkedAt()), 1_000))
                .extracting(ParkedClaim::claimId, claim -> claim.parkedAt().isAfter(seen.parkedAt()))
                .contains(tuple(seen.claimId(), false))
                .extracting(found -> found.toList().get(1))
                .containsOnly(false);
        assertThat(matching(Filter.ALL)).containsSubsequence(first.key(), other.key(), second.key());
    }

    private List<ClaimKey> matching(Filter filter) {
        return parked().listMatching(filter, 1_000).stream()
                .map(ParkedClaimsContract::key)
                .toList();
    }

    @Test
    void claimsAreFoundByTheirIdsWhileTheyAreParked() {
        ClaimRequest first = parkedClaim(false);
        ClaimRequest second = parkedClaim(false);
        ClaimRequest released = parkedClaim(false);
        parked().release(released.id());

        assertThat(parked().findAll(Set.of(first.claimId(), second.claimId(), released.claimId(), UUID.randomUUID())))
                .extracting(ParkedClaimsContract::key)
                .containsExactlyInAnyOrder(first.key(), second.key());
        assertThat(parked().findAll(Set.of(released.claimId()))).isEmpty();
    }

    @Test
    void parkedClaimsAreCountedByScopeWithTheAgeOfTheOldest() {
        ClaimRequest first = parkedClaim(false);
        String scope = first.key().scope();
        long before = countOf(scope).parked();
        ClaimRequest second = parkedClaim(false);

        assertThat(countOf(scope).parked()).isEqualTo(before + 1);
        assertThat(countOf(scope).oldest()).isBeforeOrEqualTo(find(first).parkedAt());
        parked().release(second.id());
        assertThat(countOf(scope).parked()).isEqualTo(before);
    }

    private ParkedClaims.Count countOf(String scope) {
        return parked().count().stream()
                .filter(count -> count.scope().equals(scope))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void releasedKeyIsAcquiredWithItsCountAndItsDoubt() {
        ClaimRequest parked = parkedClaim(true);

        assertThat(parked().release(parked.id())).isTrue();

        assertThat(parked().find(parked.key())).isEmpty();
        assertThat(claim(store(), parked)).as("repeated, as if unanswered").isInstanceOf(HeldElsewhere.class);
        assertThat(claim(store(), request(parked.key()))).isInstanceOfSatisfying(Acquired.class, acquired -> {
            assertThat(acquired.attempt()).isEqualTo(2);
            assertThat(acquired.inDoubt()).isTrue();
        });
    }

    @Test
    void releasedKeyIsAcquiredAlsoByARequestThatLeavesDoubtToAPerson() {
        ClaimRequest parked = parkedClaim(true);
        parked().release(parked.id());

        assertThat(claim(store(), cautious(parked.key()))).isInstanceOf(Acquired.class);
    }

    @Test
    void releaseClearsOneAttemptOnly() {
        ClaimRequest parked = parkedClaim(true);
        parked().release(parked.id());
        ClaimRequest next = cautious(parked.key());
        acquire(store(), next);

        assertThat(store().resolve(List.of(new ClaimResolution.Released(next.id(), "stopped", true)))
                        .granted())
                .hasSize(1);

        assertThat(claim(store(), cautious(parked.key()))).isEqualTo(new Parked());
    }

    /**
     * An operator's release sets the number of the key's failures to zero, so the key has all of its attempts again.
     */
    @Test
    void releasedKeyCountsItsFailuresAnew() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);
        fail(store(), first);
        ClaimRequest second = request(first.key());
        acquire(store(), second);
        store().resolve(List.of(new ClaimResolution.Parked(second.id(), "maxAttempts (2) is reached", false, true)));
        assertThat(find(second).failures()).isEqualTo(2);
        assertThat(find(second).keyHash()).isEqualTo(second.key().keyHash());
        assertThat(parked().details(second.key()).map(ClaimDetails::failures).orElse(2))
                .isEqualTo(2);
        assertThat(parked().release(second.id())).isTrue();

        ClaimRequest next = request(first.key());
        assertThat(acquire(store(), next).failures()).isZero();
        fail(store(), next);
        assertThat(acquire(store(), request(first.key())).failures()).isEqualTo(1);
    }

    /**
     * The worker repeats a parking, because the reply to the first call was lost. The claim keeps its place in the
     * list, and its first reason.
     */
    @Test
    void parkingThatIsRepeatedChangesNothing() {
        ClaimRequest parked = parkedClaim(false);
        ParkedClaim before = find(parked);

        park(parked, "told to, again", true);

        assertThat(find(parked)).isEqualTo(before);
    }

    @Test
    void keyIsParkedAgainWhenTheWorkerOfAReleasedKeyVanishes() {
        ClaimRequest parked = parkedClaim(true);
        parked().release(parked.id());
        ClaimRequest next = cautious(parked.key());
        acquire(store(), next);
        endLease(next.id());

        assertThat(claim(store(), cautious(parked.key()))).isEqualTo(new Parked());
        assertThat(find(next).claimId()).isEqualTo(next.claimId());
    }

    @Test
    void decisionIsNotMadeAgainByALateRequestOfTheClaimThatItWasMadeOn() {
        ClaimRequest abandoned = request(newKey());
        acquire(store(), abandoned);
        endLease(abandoned.id());
        claim(store(), cautious(abandoned.key()));
        assertThat(parked().release(abandoned.id())).isTrue();

        assertThat(claim(store(), abandoned)).isInstanceOf(HeldElsewhere.class);

        ClaimRequest next = cautious(abandoned.key());
        acquire(store(), next);
        endLease(next.id());
        claim(store(), cautious(abandoned.key()));
        assertThat(parked().release(abandoned.id())).isFalse();
        assertThat(find(next).claimId()).isEqualTo(next.claimId());
    }

    @Test
    void claimOfAReleasedKeyLivesLikeAnyOther() {
        ClaimRequest parked = parkedClaim(false);
        parked().release(parked.id());
        ClaimRequest next = request(parked.key());
        acquire(store(), next);

        assertThat(renew(store(), next)).isTrue();
        assertThat(release(store(), parked)).isFalse();
        assertThat(complete(store(), next, "1")).isTrue();
    }

    @Test
    void completedKeyIsADuplicateWithItsResult() {
        ClaimRequest parked = parkedClaim(true);

        assertThat(parked().complete(new ClaimResolution.Completed(parked.id(), "\"by hand\"")))
                .isTrue();

        assertThat(parked().find(parked.key())).isEmpty();
        assertThat(claim(store(), request(parked.key()))).isEqualTo(new AlreadyCompleted("\"by hand\""));
        assertThat(claim(store(), parked)).isEqualTo(new AlreadyCompleted("\"by hand\""));
    }

    @Test
    void onlyTheFirstDecisionCounts() {
        ClaimRequest completed = parkedClaim(true);
        parked().complete(new ClaimResolution.Completed(completed.id(), "1"));
        assertThat(parked().complete(new ClaimResolution.Completed(completed.id(), "2")))
                .isFalse();
        assertThat(parked().release(completed.id())).isFalse();
        assertThat(claim(store(), request(completed.key()))).isEqualTo(new AlreadyCompleted("1"));

        ClaimRequest released = parkedClaim(true);
        parked().release(released.id());
        assertThat(parked().release(released.id())).isFalse();
        assertThat(parked().complete(new ClaimResolution.Completed(released.id(), "1")))
                .isFalse();
        assertThat(claim(store(), request(released.key()))).isInstanceOf(Acquired.class);
    }

    @Test
    void decisionForAnEarlierParkingChangesNothing() {
        ClaimRequest earlier = parkedClaim(true);
        parked().release(earlier.id());
        ClaimRequest later = request(earlier.key());
        acquire(store(), later);
        park(later, "again", false);

        assertThat(parked().release(earlier.id())).isFalse();
        assertThat(parked().complete(new ClaimResolution.Completed(earlier.id(), "1")))
                .isFalse();

        assertThat(find(later).claimId()).isEqualTo(later.claimId());
    }

    @Test
    void detailsNameTheClaimThatADecisionIsMadeOn() {
        ClaimRequest seen = parkedClaim(true);
        ClaimKey key = seen.key();
        assertThat(parked().details(key))
                .hasValueSatisfying(now -> assertThat(now.claimId()).isEqualTo(seen.claimId()));
        assertThat(parked().release(new ClaimId(key, UUID.randomUUID()))).isFalse();
        parked().release(seen.id());
        ClaimRequest again = request(key);
        acquire(store(), again);
        park(again, "again", false);

        assertThat(parked().complete(new ClaimResolution.Completed(seen.id(), null)))
                .isFalse();

        assertThat(parked().detailsByKeyHash(key.scope(), key.keyHash())).hasValueSatisfying(now -> {
            assertThat(now.claimId()).isEqualTo(again.claimId());
            assertThat(now.status()).isEqualTo(ClaimDetails.Status.PARKED);
            assertThat(now.toString()).doesNotContain(key.key());
        });
    }

    @Test
    void decisionsOnManyKeysNameThoseThatWereParked() {
        List<ClaimRequest> parked =
                Stream.generate(() -> parkedClaim(true)).limit(60).toList();
        ClaimRequest released = parkedClaim(true);
        parked().release(released.id());
        ClaimRequest held = request(newKey());
        acquire(store(), held);
        ClaimId ofNoKey = new ClaimId(newKey(), UUID.randomUUID());
        ClaimId another = new ClaimId(parked.get(59).key(), UUID.randomUUID());
        List<ClaimId> first = ids(parked.subList(0, 30));
        List<ClaimId> second = ids(parked.subList(30, 59));
        // These ids simulate outdated claims of two keys, as if the keys had been parked twice. The calls below name
        // the outdated and the current claim of each key. Only the current one may change.
        ClaimId earlier = new ClaimId(parked.get(0).key(), UUID.randomUUID());
        ClaimId earlierToo = new ClaimId(parked.get(30).key(), UUID.randomUUID());
        List<ClaimId> others = List.of(released.id(), held.id(), ofNoKey, another, earlier, earlierToo);

        assertThat(parked().releaseAll(with(first, others))).containsExactlyInAnyOrderElementsOf(first);
        assertThat(parked().completeAll(completions(with(second, others)))).containsExactlyInAnyOrderElementsOf(second);

        assertThat(parked().releaseAll(with(first, second))).isEmpty();
        assertThat(parked().completeAll(completions(with(first, second)))).isEmpty();
        assertThat(claim(store(), request(parked.get(0).key()))).isInstanceOf(Acquired.class);
        assertThat(claim(store(), request(parked.get(30).key())))
                .isEqualTo(new AlreadyCompleted("\"" + parked.get(30).claimId() + "\""));
        assertThat(find(parked.get(59)).claimId()).isEqualTo(parked.get(59).claimId());
        assertThat(renew(store(), held)).isTrue();
        assertThat(parked().releaseAll(List.of())).isEmpty();
        assertThat(parked().completeAll(List.of())).isEmpty();
    }

    private static List<ClaimId> ids(List<ClaimRequest> requests) {
        return requests.stream().map(ClaimRequest::id).toList();
    }

    private static List<ClaimId> with(List<ClaimId> some, List<ClaimId> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
    }

    private static List<ClaimResolution.Completed> completions(List<ClaimId> claims) {
        return claims.stream()
                .map(claim -> new ClaimResolution.Completed(claim, "\"" + claim.value() + "\""))
                .toList();
    }

    @Test
    void decisionOnAClaimThatIsNotParkedChangesNothing() {
        ClaimRequest held = request(newKey());
        acquire(store(), held);

        assertThat(parked().release(held.id())).isFalse();
        assertThat(parked().complete(new ClaimResolution.Completed(held.id(), "1")))
                .isFalse();

        assertThat(renew(store(), held)).isTrue();
    }

    private ClaimRequest parkedClaim(boolean inDoubt) {
        return parkedFor("told to", inDoubt);
    }

    private ClaimRequest parkedFor(String reason) {
        return parkedFor(reason, false);
    }

    private ClaimRequest parkedFor(String reason, boolean inDoubt) {
        ClaimRequest request = request(newKey());
        acquire(store(), request);
        park(request, reason, inDoubt);
        return request;
    }

    private void park(ClaimRequest request, String reason, boolean inDoubt) {
        resolve(new ClaimResolution.Parked(request.id(), reason, inDoubt));
    }

    private void resolve(ClaimResolution resolution) {
        assertThat(store().resolve(List.of(resolution)).granted()).containsExactly(resolution.claim());
    }

    private ParkedClaim find(ClaimRequest request) {
        return parked().find(request.key()).orElseThrow();
    }

    private List<ParkedClaim> everyPage() {
        List<ParkedClaim> all = new ArrayList<>();
        List<ParkedClaim> page = parked().list(null, PAGE);
        while (!page.isEmpty()) {
            all.addAll(page);
            page = parked().list(page.get(page.size() - 1), PAGE);
        }
        return all;
    }

    private static ParkedClaim find(List<ParkedClaim> claims, ClaimKey key) {
        return claims.stream()
                .filter(claim -> key(claim).equals(key))
                .findFirst()
                .orElseThrow();
    }

    private static ClaimKey key(ParkedClaim claim) {
        return new ClaimKey(claim.scope(), claim.key());
    }

    private static ClaimId idOf(ParkedClaim claim) {
        return new ClaimId(key(claim), claim.claimId());
    }

    private static ClaimRequest cautious(ClaimKey key) {
        return new ClaimRequest(new ClaimId(key, UUID.randomUUID()), "worker", Claims.LEASE, InDoubt.PARK, null);
    }
}
