package io.exactlyonce.claim;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The parked claims of a {@link ClaimStore}, for operators who decide on them. Implementations must be thread-safe.
 *
 * <p>No call may delay the store's claims. A call that waits too long for other operators' calls throws {@link
 * ClaimStoreBusyException}, and changes nothing.
 *
 * <p>A decision names the claim that the operator read, and only the first decision on that claim changes anything. If
 * a call throws another exception, its decision may or may not be stored. The operator must then read the key again.
 */
public interface ParkedClaims {

    /** The number of claims that a lookup without an index reads at a time. */
    int PAGE = 1_000;

    /** Largest number of pages that a lookup without an index reads. */
    int PAGES = 100;

    /** Separates the class of an exception from its message. */
    String END_OF_CLASS = ": ";

    /**
     * An operator's selection of parked claims. A condition that is {@code null} admits every claim.
     *
     * @param scope the namespace of the keys
     * @param errorClass the {@link #classOf} of the reasons for parking
     * @param from the earliest time of parking
     * @param until the latest time of parking
     */
    record Filter(
            @Nullable String scope,
            @Nullable String errorClass,
            @Nullable Instant from,
            @Nullable Instant until) {

        /** Admits every claim. */
        public static final Filter ALL = new Filter(null, null, null, null);

        /** Returns whether this filter admits a claim. */
        boolean admits(ParkedClaim claim) {
            return (scope == null || scope.equals(claim.scope()))
                    && (errorClass == null || errorClass.equals(classOf(claim.reason())))
                    && (from == null || !claim.parkedAt().isBefore(from))
                    && !isPast(claim);
        }

        /**
         * Returns whether a claim was parked after this filter's latest time. In a list that is ordered by time, this
         * also holds for all later claims.
         */
        boolean isPast(ParkedClaim claim) {
            return until != null && claim.parkedAt().isAfter(until);
        }
    }

    /**
     * The parked claims of a scope.
     *
     * @param parked the number of parked claims
     * @param oldest when the oldest of these claims was parked
     */
    record Count(String scope, long parked, Instant oldest) {

        private Count plus(Count other) {
            return new Count(scope, parked + other.parked, oldest.isBefore(other.oldest) ? oldest : other.oldest);
        }
    }

    /**
     * Returns the part of a reason that many keys share. This part is the class of an exception, or the whole text if
     * the reason names no exception.
     */
    static String classOf(String reason) {
        int end = reason.indexOf(END_OF_CLASS);
        return end < 0 ? reason : reason.substring(0, end);
    }

    /**
     * Lists parked claims, oldest first. Claims that were parked at the same time have an order that does not change,
     * such as by scope and key.
     *
     * @param after the claim after which the list begins, even if that claim is no longer parked; {@code null} to begin
     *     with the oldest claim
     * @param limit maximum number of claims
     */
    List<ParkedClaim> list(@Nullable ParkedClaim after, int limit);

    /** Returns a parked key. Empty if the key is not parked. */
    Optional<ParkedClaim> find(ClaimKey key);

    /**
     * Returns a parked key by the hash that logs show. Empty if no parked key with this hash is found. A store without
     * a faster lookup searches only the oldest 100,000 parked keys.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<ParkedClaim> findByKeyHash(String scope, String hash) {
        List<ParkedClaim> found = new ArrayList<>();
        scan(null, PAGE, parked -> {
            if (parked.scope().equals(scope)
                    && new ClaimKey(scope, parked.key()).keyHash().equals(hash)) {
                found.add(parked);
            }
            return found.isEmpty();
        });
        return found.stream().findFirst();
    }

    /**
     * Lists the parked claims that a filter admits, oldest first. A store without a faster lookup searches at most
     * 100,000 claims, from the filter's earliest time on.
     *
     * @param limit maximum number of claims
     */
    default List<ParkedClaim> listMatching(Filter filter, int limit) {
        List<ParkedClaim> found = new ArrayList<>();
        boolean isSelective = filter.scope() != null || filter.errorClass() != null;
        scan(before(filter.from()), isSelective ? PAGE : Math.min(PAGE, limit), parked -> {
            if (filter.admits(parked)) {
                found.add(parked);
            }
            return found.size() < limit && !filter.isPast(parked);
        });
        return found;
    }

    /**
     * Returns where a list of claims begins that were parked at this time or later: behind an artificial claim that
     * precedes them all. Returns {@code null} without a time, so that the list begins with the oldest claim.
     */
    private static @Nullable ParkedClaim before(@Nullable Instant from) {
        return from == null
                ? null
                : ParkedClaim.of("-", "-", new UUID(0, 0), 1, false, "", from.minus(1, ChronoUnit.MICROS));
    }

    /**
     * Returns those of the given claims that are parked, in no particular order. A store without a faster lookup
     * searches only the oldest 100,000 parked claims.
     *
     * @param claims ids of claims as they were seen
     */
    default List<ParkedClaim> findAll(Set<UUID> claims) {
        List<ParkedClaim> found = new ArrayList<>();
        scan(null, PAGE, parked -> {
            if (claims.contains(parked.claimId())) {
                found.add(parked);
            }
            return found.size() < claims.size();
        });
        return found;
    }

    /**
     * Counts parked claims by scope. By default, only the oldest {@value #PAGE} claims are counted. Stores that can
     * count all of them override this method.
     */
    default Collection<Count> count() {
        Map<String, Count> scopes = new LinkedHashMap<>();
        list(null, PAGE)
                .forEach(parked ->
                        scopes.merge(parked.scope(), new Count(parked.scope(), 1, parked.parkedAt()), Count::plus));
        return scopes.values();
    }

    /**
     * Reads page after page, until {@code goesOn} returns false, {@value #PAGES} pages are read, or no claims are left.
     */
    private void scan(@Nullable ParkedClaim after, int size, Predicate<ParkedClaim> goesOn) {
        List<ParkedClaim> page = list(after, size);
        for (int pages = 1; !page.isEmpty(); pages++) {
            for (ParkedClaim parked : page) {
                if (!goesOn.test(parked)) {
                    return;
                }
            }
            page = pages < PAGES ? list(page.get(page.size() - 1), size) : List.of();
        }
    }

    /**
     * Returns a statement for the store's own console, with which an operator finds the key of a hash, parked or not.
     * Empty if the store has no such statement.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<String> searchFor(String hash) {
        return Optional.empty();
    }

    /**
     * Returns the claim of any key, parked or not. Empty if the key has no claim, or if the store does not show claims.
     */
    default Optional<ClaimDetails> details(ClaimKey key) {
        return Optional.empty();
    }

    /**
     * Returns a key's claim by the hash that logs show. Every store finds the parked keys that {@link #findByKeyHash}
     * finds, and a store may also find keys that are not parked. A call has a bounded cost, however many claims there
     * are.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<ClaimDetails> detailsByKeyHash(String scope, String hash) {
        return findByKeyHash(scope, hash).flatMap(parked -> details(new ClaimKey(scope, parked.key())));
    }

    /**
     * Releases a parked key.
     *
     * @return whether the claim was parked before this call
     * @see #releaseAll
     */
    default boolean release(ClaimId claim) {
        return releaseAll(List.of(claim)).contains(claim);
    }

    /**
     * Records that a parked key's effect has happened.
     *
     * @return whether the claim was parked before this call
     * @see #completeAll
     */
    default boolean complete(ClaimResolution.Completed completion) {
        return completeAll(List.of(completion)).contains(completion.claim());
    }

    /**
     * Releases parked keys, with few requests to the store. The next attempt for such a key acquires it, whatever its
     * policy for keys in doubt is, and the outcome reports whether the key is in doubt. Attempts are counted on, and
     * the number of attempts that threw starts at 0 again.
     *
     * @param claims without duplicates. Several claims may have the same key, although at most one of them can be
     *     parked
     * @return the claims that were parked before this call
     */
    Set<ClaimId> releaseAll(Collection<ClaimId> claims);

    /**
     * Records in few requests that the effects of parked keys have happened.
     *
     * @param completions without duplicates. Several claims may have the same key, although at most one of them can be
     *     parked
     * @return the claims that were parked before this call
     * @throws IllegalArgumentException if a result cannot be stored; nothing is written then
     */
    Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions);
}
