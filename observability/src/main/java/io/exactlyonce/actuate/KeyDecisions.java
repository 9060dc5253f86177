package io.exactlyonce.actuate;

import static org.springframework.boot.actuate.endpoint.web.WebEndpointResponse.STATUS_NOT_FOUND;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ParkedClaims;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/** Shows the claims of keys, and decides on parked ones. Each request has one meaning, and each refusal a reason. */
final class KeyDecisions {

    static final int BAD_REQUEST = 400;
    static final int CONFLICT = 409;
    static final int NOT_IMPLEMENTED = 501;
    static final int UNAVAILABLE = 503;

    private static final Logger log = LoggerFactory.getLogger(KeyDecisions.class);

    private static final String RELEASE = "release";
    private static final Set<String> DECISIONS = Set.of(RELEASE, "complete");

    private final @Nullable ParkedClaims claims;
    private final @Nullable ExactlyOnceOperations operations;

    /**
     * @param claims {@code null} for a store without inspection
     * @param operations {@code null} for a store without inspection
     */
    KeyDecisions(@Nullable ParkedClaims claims, @Nullable ExactlyOnceOperations operations) {
        this.claims = claims;
        this.operations = operations;
    }

    /**
     * The life of a key's claim.
     *
     * @param claim until now
     */
    record Details(ClaimDetails claim) implements OperationResponseBody {}

    /**
     * What came of a request for a decision.
     *
     * @param decided whether this request decided
     * @param reason why it did not; {@code null} if it did
     * @param claim the claim as it is instead; {@code null} if it was decided, or is not known
     */
    record Decision(
            boolean decided,
            @Nullable String reason,
            @Nullable ClaimDetails claim) implements OperationResponseBody {}

    /** Returns the claim of a key. */
    WebEndpointResponse<OperationResponseBody> show(NamedKey named) {
        if (claims == null) {
            return Refused.of(NOT_IMPLEMENTED, "this claim store shows no claims");
        }
        try {
            Optional<ClaimDetails> found = details(claims, named);
            return found.isPresent()
                    ? new WebEndpointResponse<>(new Details(found.get()))
                    : Refused.of(STATUS_NOT_FOUND, noClaim(named));
        } catch (RuntimeException failure) {
            return Refused.of(UNAVAILABLE, noAnswer(named, failure));
        }
    }

    /**
     * Decides on a parked key.
     *
     * @param asking who asks, fit for a log
     * @param attempt the attempt that the caller saw parked, or {@code null} for the one that is parked now
     * @param decision {@code release}: it may run again; {@code complete}: its effect has happened
     */
    WebEndpointResponse<OperationResponseBody> decide(
            String asking, NamedKey named, @Nullable Integer attempt, String decision) {
        String asked = decision.toLowerCase(Locale.ROOT);
        if (!DECISIONS.contains(asked)) {
            return Refused.of(BAD_REQUEST, "decision must be 'release' or 'complete'");
        }
        if (claims == null || operations == null) {
            return Refused.of(NOT_IMPLEMENTED, "this claim store shows no claims");
        }
        ParkedClaim parked;
        try {
            parked = parked(claims, operations, named);
            if (parked == null) {
                return refused(claims, named, "is not parked");
            }
            if (attempt != null && parked.attempt() != attempt) {
                return refused(claims, named, "has attempt %d parked, not %d".formatted(parked.attempt(), attempt));
            }
        } catch (RuntimeException failure) {
            return Refused.of(UNAVAILABLE, noAnswer(named, failure));
        }
        return decide(asking, named, parked, asked, claims, operations);
    }

    private static WebEndpointResponse<OperationResponseBody> decide(
            String asking,
            NamedKey named,
            ParkedClaim parked,
            String asked,
            ParkedClaims claims,
            ExactlyOnceOperations operations) {
        String outcome = "done";
        try {
            boolean decided =
                    RELEASE.equals(asked) ? operations.releaseParked(parked) : operations.completeParked(parked, null);
            if (decided) {
                return new WebEndpointResponse<>(new Decision(true, null, null));
            }
            outcome = "another decision came first";
            return refused(claims, named, "was decided by another request first");
        } catch (RuntimeException failure) {
            outcome = "it failed, but the decision may have been stored (%s)".formatted(failure);
            return Refused.of(
                    UNAVAILABLE, noAnswer(named, failure) + "; repeat the decision, because only the first one counts");
        } finally {
            log.warn("{} asked to {} the parked claim of {}: {}", asking, asked, named, outcome);
        }
    }

    private static @Nullable ParkedClaim parked(ParkedClaims claims, ExactlyOnceOperations operations, NamedKey named) {
        return named.key() == null
                ? claims.findByHash(named.scope(), String.valueOf(named.hash())).orElse(null)
                : operations.findParked(named.scope(), named.key().key()).orElse(null);
    }

    /** Shows what is there instead, so that the operator need not ask again. */
    private static WebEndpointResponse<OperationResponseBody> refused(
            ParkedClaims claims, NamedKey named, String reason) {
        ClaimDetails now = details(claims, named).orElse(null);
        return now == null
                ? new WebEndpointResponse<>(new Decision(false, noClaim(named), null), STATUS_NOT_FOUND)
                : new WebEndpointResponse<>(
                        new Decision(false, "the key %s; it is %s".formatted(reason, now.status()), now), CONFLICT);
    }

    private static Optional<ClaimDetails> details(ParkedClaims claims, NamedKey named) {
        return named.key() == null
                ? claims.detailsByHash(named.scope(), String.valueOf(named.hash()))
                : claims.details(named.key());
    }

    private static String noClaim(NamedKey named) {
        return named.key() == null
                ? "no claim of this scope has this hash, or this store finds only parked keys by their hash"
                : "this scope has no claim of this key";
    }

    private static String noAnswer(NamedKey named, RuntimeException failure) {
        log.debug("The claim of {} could not be read or decided for an operator", named, failure);
        return "the claim store did not answer (%s)"
                .formatted(failure.getClass().getSimpleName());
    }
}
