package io.exactlyonce.actuate;

import static org.springframework.boot.actuate.endpoint.web.WebEndpointResponse.STATUS_NOT_FOUND;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ParkedClaims;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Shows the claim of a key, and releases or completes parked keys for an operator. At most one lookup and one decision
 * run at a time. A running lookup does not block decisions.
 */
final class KeyDecisions {

    static final int BAD_REQUEST = 400;
    static final int CONFLICT = 409;
    static final int NOT_IMPLEMENTED = 501;
    static final String SHOWS_NONE = "this claim store shows no claims";

    private static final Logger log = LoggerFactory.getLogger(KeyDecisions.class);

    static final String RELEASE = "release";
    private static final int LONGEST_REASON = 600;
    private static final Set<String> DECISIONS = Set.of(RELEASE, "complete");

    private final @Nullable ParkedClaims claims;
    private final OneAtATime lookUps;
    private final OneAtATime decisions;
    private final ParkedMessages messages;
    private final ListenerStates listeners;

    /**
     * @param claims the parked claims; {@code null} if the store cannot list them
     * @param lookUps runs one lookup at a time
     * @param decisions runs one decision at a time
     * @param messages remembers from which queue the message of a parked key came
     * @param listeners knows the maximum number of attempts in each scope
     */
    KeyDecisions(
            @Nullable ParkedClaims claims,
            OneAtATime lookUps,
            OneAtATime decisions,
            ParkedMessages messages,
            ListenerStates listeners) {
        this.claims = claims;
        this.lookUps = lookUps;
        this.decisions = decisions;
        this.messages = messages;
        this.listeners = listeners;
    }

    /**
     * Converts the caller's decision to lower case, for example {@code RELEASE} to {@code release}.
     *
     * @throws IllegalArgumentException if the text is neither {@code release} nor {@code complete}
     */
    static String decision(String asked) {
        String decision = asked.toLowerCase(Locale.ROOT);
        if (!DECISIONS.contains(decision)) {
            throw new IllegalArgumentException("decision must be 'release' or 'complete'");
        }
        return decision;
    }

    /**
     * Releases or completes parked claims. Returns the ids of the claims that were changed. A claim that is not parked
     * any more is not changed.
     */
    static Set<ClaimId> decide(ParkedClaims store, String decision, List<ClaimId> claims) {
        return RELEASE.equals(decision)
                ? store.releaseAll(claims)
                : store.completeAll(claims.stream()
                        .map(claim -> new ClaimResolution.Completed(claim, null))
                        .toList());
    }

    /** The response to a request for a key's claim. */
    record Details(ShownClaim claim) implements OperationResponseBody {}

    /**
     * The response to an operator who releases or completes a parked key.
     *
     * @param decided whether the key was released or completed
     * @param reason why nothing changed; {@code null} if the key was released or completed
     * @param claim the key's current claim; {@code null} if the key was released or completed, or if no claim was found
     * @param message where the released key's message is; {@code null} if the key was not released, or if the place is
     *     unknown
     */
    record Decision(
            boolean decided,
            @Nullable String reason,
            @Nullable ShownClaim claim,
            ParkedMessages.@Nullable Seen message) implements OperationResponseBody {

        Decision(boolean decided, @Nullable String reason, @Nullable ShownClaim claim) {
            this(decided, reason, claim, null);
        }
    }

    /** Returns the claim of a key. */
    WebEndpointResponse<OperationResponseBody> show(NamedKey named) {
        ParkedClaims store = claims;
        return store == null ? unshown() : lookUps.answer(() -> show(store, named));
    }

    private WebEndpointResponse<OperationResponseBody> show(ParkedClaims store, NamedKey named) {
        try {
            Optional<ClaimDetails> found = details(store, named);
            return found.isPresent()
                    ? new WebEndpointResponse<>(new Details(ShownClaim.of(found.get(), named, listeners)))
                    : Refused.of(STATUS_NOT_FOUND, noClaim(store, named));
        } catch (RuntimeException failure) {
            return Refused.forNow(noAnswer(store, named, failure));
        }
    }

    /**
     * Releases or completes a parked key.
     *
     * @param asking the caller's name for the log
     * @param seen the parked claim's id, as the endpoint showed it; {@code null} if the request has none
     * @param decision {@code release} if the handler may run again; {@code complete} if the handler's effect has
     *     happened
     * @param why the operator's reason for the log; {@code null} if the request has none
     */
    WebEndpointResponse<OperationResponseBody> decide(
            String asking, NamedKey named, @Nullable UUID seen, String decision, @Nullable String why) {
        String asked = decision(decision);
        ParkedClaims store = claims;
        return store == null ? unshown() : decisions.answer(() -> decide(store, asking, named, seen, asked, why));
    }

    private WebEndpointResponse<OperationResponseBody> decide(
            ParkedClaims store,
            String asking,
            NamedKey named,
            @Nullable UUID seen,
            String asked,
            @Nullable String why) {
        ClaimKey key = named.key();
        try {
            if (seen == null) {
                return refused(store, named, "is not decided, because claimId must name the claim that you saw parked");
            }
            if (key == null) {
                ParkedClaim parked = store.findByKeyHash(named.scope(), String.valueOf(named.keyHash()))
                        .orElse(null);
                if (parked == null) {
                    return refused(store, named, "is not parked");
                }
                key = new ClaimKey(parked.scope(), parked.key());
            }
        } catch (RuntimeException failure) {
            return Refused.forNow(noAnswer(store, named, failure));
        }
        return decide(store, asking, named, new ClaimId(key, seen), asked, why);
    }

    /**
     * Releases or completes the claim that the operator saw. If the key was claimed again since then, nothing changes.
     */
    private WebEndpointResponse<OperationResponseBody> decide(
            ParkedClaims store, String asking, NamedKey named, ClaimId seen, String asked, @Nullable String why) {
        String outcome = "done";
        try {
            boolean decided = RELEASE.equals(asked)
                    ? store.release(seen)
                    : store.complete(new ClaimResolution.Completed(seen, null));
            if (decided) {
                return new WebEndpointResponse<>(
                        new Decision(true, null, null, RELEASE.equals(asked) ? messages.of(seen.key()) : null));
            }
            outcome = "this claim is not parked any more";
            return refused(store, named, "does not have this claim parked");
        } catch (ClaimStoreBusyException busy) {
            outcome = "not done, because the store was busy";
            return Refused.forNow(noAnswer(store, named, busy));
        } catch (RuntimeException failure) {
            outcome = "it failed, but the decision may have been stored (%s)"
                    .formatted(PrintableException.reason(failure));
            return Refused.forNow(
                    noAnswer(store, named, failure) + "; repeat the decision, because only the first one counts");
        } finally {
            log.warn(
                    "{} asked to {} the parked claim {} of {}{}: {}",
                    asking,
                    asked,
                    seen.value(),
                    named,
                    why == null ? "" : ", because \"%s\"".formatted(OneLine.of(why, LONGEST_REASON)),
                    outcome);
        }
    }

    /**
     * Returns the response to a decision that changed nothing. The response contains the key's current claim, so that
     * the operator need not look it up.
     */
    private static WebEndpointResponse<OperationResponseBody> refused(
            ParkedClaims store, NamedKey named, String reason) {
        ClaimDetails now = details(store, named).orElse(null);
        return now == null
                ? new WebEndpointResponse<>(new Decision(false, noClaim(store, named), null), STATUS_NOT_FOUND)
                : new WebEndpointResponse<>(
                        new Decision(false, "the key %s; it is %s".formatted(reason, now.status()), ShownClaim.of(now)),
                        CONFLICT);
    }

    private static Optional<ClaimDetails> details(ParkedClaims store, NamedKey named) {
        return named.key() == null
                ? store.detailsByKeyHash(named.scope(), String.valueOf(named.keyHash()))
                : store.details(named.key());
    }

    private static WebEndpointResponse<OperationResponseBody> unshown() {
        return Refused.of(NOT_IMPLEMENTED, SHOWS_NONE);
    }

    private static String noClaim(ParkedClaims store, NamedKey named) {
        return named.key() == null
                ? "no parked and no recent claim of this scope has this hash; name the key instead"
                        + search(store, named)
                : "this scope has no claim of this key";
    }

    private static String noAnswer(ParkedClaims store, NamedKey named, RuntimeException failure) {
        log.debug(
                "The claim of {} could not be read or decided for an operator", named, PrintableException.of(failure));
        return "the claim store did not answer (%s)%s"
                .formatted(
                        failure.getClass().getSimpleName(),
                        named.key() == null && !(failure instanceof ClaimStoreBusyException)
                                ? search(store, named)
                                : "");
    }

    private static String search(ParkedClaims store, NamedKey named) {
        return store.searchFor(String.valueOf(named.keyHash()))
                .map(", or run, on a replica if there is one: "::concat)
                .orElse("");
    }
}
