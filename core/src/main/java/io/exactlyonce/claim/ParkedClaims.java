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
 * The parked claims of a {@link ClaimStore}, for operators who decide on them. Thread-safe.
 *
 * <p>No call may delay the claims of the store. A call that has to wait too long for other calls throws {@link
 * ClaimStoreBusyException}, and changes nothing.
 *
 * <p>A decision names the claim that was read, and only the first decision changes anything. If a call throws, its
 * decision may or may not be stored: read the key again.
 */
public interface ParkedClaims {

    /** Number of claims in one page of a lookup without an index. */
    int PAGE = 1_000;

    /** Largest number of pages that a lookup without an index reads. */
    int PAGES = 100;

    /** Separates the class of an exception from its message. */
    String END_OF_CLASS = ": ";

    /**
     * An operator's selection of parked claims. A condition that is {@code null} admits every claim.
     *
     * @param scope the keys' namespace
     * @param errorClass the {@link #classOf} of their reasons
     * @param from the earliest time at which they were parked
     * @param until the latest time at which they were parked
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

        /** Returns whether a claim was parked after the end of this filter, as then all later claims were. */
        boolean isPast(ParkedClaim claim) {
            return until != null && claim.parkedAt().isAfter(until);
        }
    }

    /**
     * The parked claims of a scope.
     *
     * @param parked their number
     * @param oldest when the oldest one was parked
     */
    record Count(String scope, long parked, Instant oldest) {

        private Count plus(Count other) {
            return new Count(scope, parked + other.parked, oldest.isBefore(other.oldest) ? oldest : other.oldest);
        }
    }

    /**
     * Returns the part of a reason that many keys share: the class of an exception, or the whole text if it names no
     * exception.
     */
    static String classOf(String reason) {
        int end = reason.indexOf(END_OF_CLASS);
        return end < 0 ? reason : reason.substring(0, end);
    }

    /**
     * Lists parked claims by the time at which they were parked, oldest first; then by scope and key.
     *
     * @param after the claim after which the list begins, even if it is no longer parked; {@code null} to begin
     *     with the oldest one
     * @param limit maximum number of claims
     */
    List<ParkedClaim> list(@Nullable ParkedClaim after, int limit);

    /** Returns a parked key; empty if it is not parked. */
    Optional<ParkedClaim> find(ClaimKey key);

    /**
     * Returns a parked key by the hash that logs show; empty if no parked key has this hash. Searches the oldest
     * 100,000 parked keys, unless the store has a faster way.
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
     * Lists the parked claims that a filter admits, oldest first. Searches 100,000 claims from the filter's beginning
     * on, unless the store has a faster way.
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

    /** Returns a claim that does not exist, and that precedes all claims parked at this time or later. */
    private static @Nullable ParkedClaim before(@Nullable Instant from) {
        return from == null
                ? null
                : ParkedClaim.of("-", "-", new UUID(0, 0), 1, false, "", from.minus(1, ChronoUnit.MICROS));
    }

    /**
     * Returns the claims among these that are parked, in no order. Searches the oldest 100,000 parked claims, unless
     * the store has a faster way.
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
     * Counts parked claims by scope. Counts the oldest {@value #PAGE} claims, unless the store has a faster way to
     * count all.
     */
    default Collection<Count> count() {
        Map<String, Count> scopes = new LinkedHashMap<>();
        list(null, PAGE)
                .forEach(parked ->
                        scopes.merge(parked.scope(), new Count(parked.scope(), 1, parked.parkedAt()), Count::plus));
        return scopes.values();
    }

    /** Reads page after page, until {@code goesOn} returns false or {@value #PAGES} pages are read. */
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
     * Returns a statement with which an operator finds any key by its hash, outside of this application; empty if the
     * store has no such statement.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<String> searchFor(String hash) {
        return Optional.empty();
    }

    /** Returns any key's claim, parked or not; empty if there is none, or if the store does not show it. */
    default Optional<ClaimDetails> details(ClaimKey key) {
        return Optional.empty();
    }

    /**
     * Returns a key's claim by the hash that logs show. Every store finds the parked keys that {@link #findByKeyHash}
     * finds; a store may find other keys. The work of a call is bounded, however many claims there are.
     *
     * @param hash {@link ClaimKey#keyHash()} of the key
     */
    default Optional<ClaimDetails> detailsByKeyHash(String scope, String hash) {
        return findByKeyHash(scope, hash).flatMap(parked -> details(new ClaimKey(scope, parked.key())));
    }

    /**
     * Releases a parked key.
     *
     * @return whether the claim was parked until now
     * @see #releaseAll
     */
    default boolean release(ClaimId claim) {
        return releaseAll(List.of(claim)).contains(claim);
    }

    /**
     * Records that a parked key's effect has happened.
     *
     * @return whether the claim was parked until now
     * @see #completeAll
     */
    default boolean complete(ClaimResolution.Completed completion) {
        return completeAll(List.of(completion)).contains(completion.claim());
    }

    /**
     * Releases parked keys in few requests. The next request for such a key acquires it, whatever its policy for keys
     * in doubt is. The outcome says whether the key is in doubt, and the request counts as the next attempt. The key's
     * count of attempts that threw starts at 0 again.
     *
     * @param claims each once; of several claims of a key at most one can be parked
     * @return the claims that were parked until now
     */
    Set<ClaimId> releaseAll(Collection<ClaimId> claims);

    /**
     * Records in few requests that the effects of parked keys have happened.
     *
     * @param completions each claim once; of several claims of a key at most one can be parked
     * @return the claims that were parked until now
     * @throws IllegalArgumentException if a result cannot be stored; then nothing is written
     */
    Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions);
}
