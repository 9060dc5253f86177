package io.exactlyonce.actuate;

import static io.exactlyonce.actuate.KeyDecisions.BAD_REQUEST;
import static io.exactlyonce.actuate.KeyDecisions.CONFLICT;
import static org.springframework.boot.actuate.endpoint.web.WebEndpointResponse.STATUS_NOT_FOUND;

import io.exactlyonce.actuate.DeadLetterRedrive.Redrives;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.observe.Prevented;
import io.exactlyonce.observed.ObservedCounts;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.window.WindowWatch;
import java.security.Principal;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
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

    /** Characters of a caller's name that a line of the log shows. */
    private static final int LONGEST_NAME = 200;

    private final ListenerStates listeners;
    private final Prevented prevented;
    private final WindowWatch windows;
    private final QueueAudit audit;
    private final ObjectFactory<ObservedCounts> observed;
    private final DeadLetterRedrive redrives = new DeadLetterRedrive();
    private final OneAtATime redriving = new OneAtATime("redrive");
    private final KeyDecisions keys;

    /**
     * Creates the endpoint.
     *
     * @param observed counts of listeners in observe mode; resolved at the first read
     * @param claims {@code null} for a store without inspection
     */
    public ExactlyOnceEndpoint(
            ListenerStates listeners,
            Prevented prevented,
            WindowWatch windows,
            QueueAudit audit,
            ObjectFactory<ObservedCounts> observed,
            @Nullable ParkedClaims claims) {
        this.listeners = listeners;
        this.prevented = prevented;
        this.windows = windows;
        this.audit = audit;
        this.observed = observed;
        this.keys = new KeyDecisions(claims);
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
     * Returns prevented repeats and running listeners; or the claim of a key, if the request names one.
     *
     * @param scope of the key
     * @param key the key
     * @param keyHash in place of the key: its hash, as logs show it
     */
    @ReadOperation
    public WebEndpointResponse<OperationResponseBody> read(
            @Nullable Object scope, @Nullable Object key, @Nullable Object keyHash) {
        if (scope == null && key == null && keyHash == null) {
            return new WebEndpointResponse<>(listeners());
        }
        try {
            return keys.show(NamedKey.of(scope, key, keyHash));
        } catch (IllegalArgumentException unclear) {
            return Refused.of(BAD_REQUEST, String.valueOf(unclear.getMessage()));
        }
    }

    /** Returns prevented repeats and running listeners. */
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
     * Decides on a parked key, or redrives the dead letters of a listener.
     *
     * @param scope of the key
     * @param key the key
     * @param keyHash in place of the key: its hash, as logs show it
     * @param claimId the claim that the caller saw parked: another one is not decided
     * @param decision {@code release}: the key may run again; {@code complete}: its effect has happened
     * @param listener whose dead letters are redriven
     * @param action {@code redrive}
     */
    @WriteOperation
    public WebEndpointResponse<OperationResponseBody> write(
            SecurityContext security,
            @Nullable Object scope,
            @Nullable Object key,
            @Nullable Object keyHash,
            @Nullable Object claimId,
            @Nullable Object decision,
            @Nullable Object listener,
            @Nullable Object action) {
        try {
            if ((decision == null) == (action == null)) {
                throw new IllegalArgumentException(
                        "a request needs either a decision with scope and key, or an action with listener");
            }
            return decision == null
                    ? redrive(security, NamedKey.text("listener", listener), NamedKey.text("action", action))
                    : keys.decide(
                            asking(security),
                            NamedKey.of(scope, key, keyHash),
                            claimId == null ? null : id(NamedKey.text("claimId", claimId)),
                            NamedKey.text("decision", decision));
        } catch (IllegalArgumentException unclear) {
            return Refused.of(BAD_REQUEST, String.valueOf(unclear.getMessage()));
        }
    }

    private static UUID id(String claimId) {
        try {
            return UUID.fromString(claimId);
        } catch (IllegalArgumentException text) {
            throw new IllegalArgumentException("claimId must be the id that the claim is shown with", text);
        }
    }

    /** Starts to move the messages of a listener's dead-letter queues back to its queues. */
    private WebEndpointResponse<OperationResponseBody> redrive(
            SecurityContext security, String listener, String action) {
        if (!"redrive".equals(action)) {
            throw new IllegalArgumentException("action must be 'redrive'");
        }
        List<Subscription> named = listeners.all().stream()
                .filter(subscription -> subscription.listener().equals(listener))
                .toList();
        // A name that no listener has is any text of the caller's: it makes no line.
        if (named.isEmpty()) {
            String running = listeners.all().stream()
                    .map(Subscription::listener)
                    .distinct()
                    .collect(Collectors.joining(", "));
            return Refused.of(
                    STATUS_NOT_FOUND,
                    "no listener of this name claims keys on this instance; running: "
                            + (running.isEmpty() ? "none" : running));
        }
        return redriving.answer(() -> redrive(asking(security), listener, named));
    }

    /** A request to SQS takes one of the connections with which visibility timeouts are renewed. */
    private WebEndpointResponse<OperationResponseBody> redrive(
            String asking, String listener, List<Subscription> named) {
        log.warn("{} asked to redrive the dead letters of listener '{}'", asking, listener);
        Redrives started = redrives.start(named);
        if (started.redriven().isEmpty() && started.refused().isEmpty()) {
            return Refused.of(CONFLICT, "no queue of this listener has a dead-letter queue that this instance knows");
        }
        return new WebEndpointResponse<>(
                started, started.refused().isEmpty() ? WebEndpointResponse.STATUS_OK : BAD_GATEWAY);
    }

    private static String asking(SecurityContext security) {
        Principal principal = security.getPrincipal();
        return principal == null
                ? "A caller without a name"
                : "'" + OneLine.of(String.valueOf(principal.getName()), LONGEST_NAME) + "'";
    }
}
