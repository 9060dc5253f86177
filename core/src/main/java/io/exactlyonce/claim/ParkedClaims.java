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
 * Lists the parked claims of a {@link ClaimStore}, and stores operators' decisions about them. Implementations must be
 * thread-safe.
 *
 * <p>Operators' calls must not delay claims, so they should take few connections: a store may let them wait for each
 * other. A call that waits too long throws {@link ClaimStoreBusyException}, and changes nothing. If a call throws any
 * other exception, its decision may or may not be stored. The operator must then read the key again.
 *
 * <p>Two operators may decide about the same claim. Only the first decision has an effect.
 */
public interface ParkedClaims {

    /** Number of claims in a page. A lookup for which the store has no index reads the parked claims page by page. */
    int PAGE = 1_000;

    /** Maximum number of pages that a lookup without an index reads: 100,000 claims in all. */
    int PAGES = 100;

    /** Separates the exception's class from its message in the reason of a parked claim. */
    String END_OF_CLASS = ": ";

    /**
     * Conditions that select parked claims. A condition that is {@code null} admits every claim.
     *
     * @param scope the namespace of the keys
     * @param errorClass the exception class in the reason, as {@link #classOf} returns it
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
         * Returns whether a claim was parked after {@code until}. A search that reads the oldest claims first can stop
         * at such a claim.
         */
        boolean isPast(ParkedClaim claim) {
            return until != null && claim.parkedAt().isAfter(until);
        }
    }

    /**
     * The number of parked claims in a scope.
     *
     * @param oldest when the oldest of them was parked
     */
    record Count(String scope, long parked, Instant oldest) {

        private Count plus(Count other) {
            return new Count(scope, parked + other.parked, oldest.isBefore(other.oldest) ? oldest : other.oldest);
        }
    }

    /**
     * Returns the exception's class from a reason for parking. Parked claims can be grouped by this class. Returns the
     * whole reason if it names no exception.
     */
    static String classOf(String reason) {
        int end = reason.indexOf(END_OF_CLASS);
        return end < 0 ? reason : reason.substring(0, end);
    }

    /**
     * Lists parked claims, oldest first. Claims that were parked at the same time always have the same order, for
     * example by scope and key.
     *
     * @param after the last claim of the previous page, even if it is no longer parked; {@code null} for the first page
     * @param limit maximum number of claims
     */
    List<ParkedClaim> list(@Nullable ParkedClaim after, int limit);

    /** Returns a parked key. Empty if the key is not parked. */
    Optional<ParkedClaim> find(ClaimKey key);

    /**
     * Finds a parked key by the hash that logs show. Empty if none is found. By default, only the oldest 100,000 parked
     * keys are searched.
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
     * Lists the parked claims that a filter admits, oldest first. By default, the search begins with the claims parked
     * at the filter's {@code from}, and ends after 100,000 claims.
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
     * Makes a claim that is only a mark: if it is passed to {@link #list}, the list begins with the claims parked at
     * this time. Returns {@code null} if no time is given, so that the list begins with the oldest claim.
     */
    private static @Nullable ParkedClaim before(@Nullable Instant from) {
        return from == null
                ? null
                : ParkedClaim.of("-", "-", new UUID(0, 0), 1, false, "", from.minus(1, ChronoUnit.MICROS));
    }

    /**
     * Returns the claims that are still parked, in no particular order. By default, only the oldest 100,000 parked
     * claims are searched.
     *
     * @param claims ids of claims that the caller has seen
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

    /** Reads parked claims until {@code goesOn} returns false for a claim, or {@value #PAGES} pages are read. */
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
     * Returns a query that an operator can run in the store's own console to find the key of a hash. The query also
     * finds keys that are not parked. Empty if the store has no such query.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<String> searchFor(String hash) {
        return Optional.empty();
    }

    /** Returns the claim of a key, parked or not. Empty if the key has no claim, or if the store cannot show claims. */
    default Optional<ClaimDetails> details(ClaimKey key) {
        return Optional.empty();
    }

    /**
     * Finds the claim of a key by the hash that logs show. Parked keys are found as by {@link #findByKeyHash}. Some
     * stores also find keys that are not parked. Stores search only a limited number of claims, so a call is cheap even
     * in a large table, but may not find the key.
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
     * Releases parked keys, with few requests to the store. The next attempt acquires a released key, even if the key
     * is in doubt and the listener parks such keys. The number of attempts is kept, and the number of failures restarts
     * at 0.
     *
     * @param claims without duplicates. Two claims may have the same key, but at most one of them can be parked
     * @return the claims that were parked before this call
     */
    Set<ClaimId> releaseAll(Collection<ClaimId> claims);

    /**
     * Records that the effects of parked keys have happened, with few requests to the store.
     *
     * @param completions without duplicates. Two claims may have the same key, but at most one of them can be parked
     * @return the claims that were parked before this call
     * @throws IllegalArgumentException if a result cannot be stored; nothing is written then
     */
    Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions);
}
