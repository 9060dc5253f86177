package io.exactlyonce.actuate;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.actuate.DeadLetterRedrive.Redrives;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.observe.Prevented;
import io.exactlyonce.observed.ObservedCounts;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.WindowWatch;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * {@code /actuator/exactlyonce}: listeners with their visibility timeouts, advice and audit; one key's claim;
 * operators' decisions. Decisions and redrives are off unless
 * {@code management.endpoint.exactlyonce.access=unrestricted}.
 */
@WebEndpoint(id = "exactlyonce", defaultAccess = Access.READ_ONLY)
public final class ExactlyOnceEndpoint {

    private static final Logger log = LoggerFactory.getLogger(ExactlyOnceEndpoint.class);

    private static final int BAD_GATEWAY = 502;
    private static final String RELEASE = "release";
    private static final Set<String> DECISIONS = Set.of(RELEASE, "complete");

    private final ListenerStates listeners;
    private final Prevented prevented;
    private final WindowWatch windows;
    private final QueueAudit audit;
    private final ObjectFactory<ObservedCounts> observed;
    private final DeadLetterRedrive redrives = new DeadLetterRedrive();
    private final @Nullable ParkedClaims claims;
    private final @Nullable ExactlyOnceOperations operations;

    /**
     * Creates the endpoint.
     *
     * @param observed counts of listeners in observe mode; resolved at the first read
     * @param claims {@code null} for a store without inspection
     * @param operations decide on parked claims; {@code null} for a store without inspection
     */
    public ExactlyOnceEndpoint(
            ListenerStates listeners,
            Prevented prevented,
            WindowWatch windows,
            QueueAudit audit,
            ObjectFactory<ObservedCounts> observed,
            @Nullable ParkedClaims claims,
            @Nullable ExactlyOnceOperations operations) {
        this.listeners = listeners;
        this.prevented = prevented;
        this.windows = windows;
        this.audit = audit;
        this.observed = observed;
        this.claims = claims;
        this.operations = operations;
    }

    /**
     * Prevented repeats and running listeners. Values of {@code null} are left out of the response.
     *
     * @param sinceStart what claims have prevented on this instance
     * @param listeners listeners in enforce mode; {@code null} if there are none
     * @param observed listeners in observe mode; {@code null} if there are none
     */
    public record Listeners(
            Prevented.Counts sinceStart,
            @Nullable List<ListenerDescription> listeners,
            @Nullable List<ObservedCounts.Seen> observed)
            implements OperationResponseBody {}

    /**
     * The life of a key's claim.
     *
     * @param claim until now
     */
    public record Details(ClaimDetails claim) implements OperationResponseBody {}

    /** Returns prevented repeats and running listeners. */
    @ReadOperation
    public Listeners listeners() {
        return new Listeners(
                prevented.all(),
                filled(listeners.all().stream().map(this::describe).toList()),
                filled(observed.getObject().all()));
    }

    private static <T> @Nullable List<T> filled(List<T> list) {
        return list.isEmpty() ? null : list;
    }

    private ListenerDescription describe(Subscription subscription) {
        return ListenerDescription.of(
                subscription,
                prevented.counts(subscription),
                audit.retryBudget(subscription).orElse(null),
                windows.window(subscription),
                audit.report(subscription).orElse(null));
    }

    /**
     * Returns the life of a key's claim; {@code null}, which is 404, if there is none.
     *
     * @param key the key, or its hash as logs show it
     */
    @ReadOperation
    public @Nullable Details claim(@Selector String scope, @Selector String key) {
        return claims == null
                ? null
                : claims.details(keyOf(scope, key)).map(Details::new).orElse(null);
    }

    private static ClaimKey keyOf(String scope, String key) {
        try {
            return KeyRules.key(scope, key);
        } catch (IllegalArgumentException | InvalidKeyException invalid) {
            String reason = String.valueOf(invalid.getMessage());
            throw new InvalidEndpointRequestException(reason, reason);
        }
    }

    /**
     * Decides on a parked key.
     *
     * @param decision {@code release}: it may run again; {@code complete}: its effect has happened
     * @return under {@code decided}, whether this decided it: not if the key is not parked, or another decision came first
     */
    @WriteOperation
    public Map<String, Object> decide(
            SecurityContext security, @Selector String scope, @Selector String key, String decision) {
        ExactlyOnceOperations deciding = operations;
        ClaimKey named = keyOf(scope, key);
        ParkedClaim parked =
                deciding == null ? null : deciding.findParked(scope, key).orElse(null);
        if (deciding == null || parked == null) {
            return Map.of("decided", false);
        }
        String asked = decision.toLowerCase(Locale.ROOT);
        if (!DECISIONS.contains(asked)) {
            throw new InvalidEndpointRequestException(
                    "decision '%s' must be 'release' or 'complete'".formatted(decision),
                    "decision must be 'release' or 'complete'");
        }
        String outcome = "it failed, but the decision may have been stored";
        try {
            boolean decided =
                    RELEASE.equals(asked) ? deciding.releaseParked(parked) : deciding.completeParked(parked, null);
            outcome = decided ? "done" : "another decision came first";
            return Map.of("decided", decided);
        } finally {
            log.warn("{} asked to {} the parked claim of {}: {}", asking(security), asked, named, outcome);
        }
    }

    /**
     * Starts to move the messages of a listener's dead-letter queues back to its queues.
     *
     * @param action {@code redrive}
     * @return the results; empty if there is no such listener, or it has no known dead-letter queue. The status is 502
     *     if SQS refuses to redrive any of the queues
     */
    @WriteOperation
    public WebEndpointResponse<Redrives> redrive(SecurityContext security, @Selector String listener, String action) {
        if (!"redrive".equals(action)) {
            throw new InvalidEndpointRequestException(
                    "action '%s' must be 'redrive'".formatted(action), "action must be 'redrive'");
        }
        List<Subscription> named = listeners.all().stream()
                .filter(subscription -> subscription.listener().equals(listener))
                .toList();
        // A name that no listener has is any text of the caller's: it makes no line.
        if (!named.isEmpty()) {
            log.warn("{} asked to redrive the dead letters of listener '{}'", asking(security), listener);
        }
        Redrives begun = redrives.start(named);
        return new WebEndpointResponse<>(
                begun, begun.refused().isEmpty() ? WebEndpointResponse.STATUS_OK : BAD_GATEWAY);
    }

    private static String asking(SecurityContext security) {
        Principal principal = security.getPrincipal();
        return principal == null
                ? "A caller without a name"
                : "'" + principal.getName().replaceAll("\\p{Cntrl}", "?") + "'";
    }
}
