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
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * {@code /actuator/exactlyonce}, the endpoint for operators. The endpoint shows:
 *
 * <ul>
 *   <li>running listeners, with recommended visibility timeouts and problems of their queues
 *   <li>the claim of one key
 *   <li>the parked keys of all instances
 *   <li>the dead letters of a listener
 * </ul>
 *
 * <p>Operators can also release or complete parked keys, and redrive dead letters. For these changes, set
 * {@code management.endpoint.exactlyonce.access=unrestricted}.
 */
@WebEndpoint(id = "exactlyonce", defaultAccess = Access.READ_ONLY)
public final class ExactlyOnceEndpoint {

    private static final Logger log = LoggerFactory.getLogger(ExactlyOnceEndpoint.class);

    private static final int BAD_GATEWAY = DeadLetters.BAD_GATEWAY;

    private static final String PARKED = "parked";
    private static final String DEAD_LETTERS = "dead-letters";
    private static final String OVERVIEW = "overview";

    /** At most this many characters of a caller's name are logged. */
    private static final int LONGEST_NAME = 200;

    private final ListenerStates listeners;
    private final Prevented prevented;
    private final WindowWatch windows;
    private final QueueAudit audit;
    private final ObjectFactory<ObservedCounts> observed;
    private final DeadLetterRedrive redrives = new DeadLetterRedrive();
    private final OneAtATime redriving = new OneAtATime("redrive");
    private final OneAtATime looking = new OneAtATime("look at dead letters");
    private final KeyDecisions keys;
    private final ParkedRequests parked;
    private final DeadLetters deadLetters;
    private final ShownKeys shown;

    /**
     * Creates the endpoint.
     *
     * @param observed looks up the bean that counts the deliveries of listeners in observe mode
     * @param claims the parked claims; {@code null} if the store cannot list them
     * @param messages remembers from which queue the message of a parked key came
     * @param shown decides which callers see keys
     */
    public ExactlyOnceEndpoint(
            ListenerStates listeners,
            Prevented prevented,
            WindowWatch windows,
            QueueAudit audit,
            ObjectFactory<ObservedCounts> observed,
            @Nullable ParkedClaims claims,
            ParkedMessages messages,
            ShownKeys shown) {
        this.listeners = listeners;
        this.prevented = prevented;
        this.windows = windows;
        this.audit = audit;
        this.observed = observed;
        this.shown = shown;
        OneAtATime lookUps = new OneAtATime("lookup");
        OneAtATime decisions = new OneAtATime("decision");
        this.keys = new KeyDecisions(claims, lookUps, decisions, messages, listeners);
        this.parked = new ParkedRequests(claims, lookUps, decisions, messages, listeners);
        this.deadLetters = new DeadLetters(claims, InstantSource.system());
    }

    /**
     * The running listeners, and how many repeated handler calls this library prevented. {@code null} fields are left
     * out of the JSON.
     *
     * @param sinceStart repeats that were prevented since this instance started, for example suppressed duplicates
     * @param listeners listeners in enforce mode; {@code null} if there are none
     * @param observed listeners in observe mode; {@code null} if there are none
     */
    public record Listeners(
            Prevented.Counts sinceStart,
            @Nullable List<ListenerDescription> listeners,
            @Nullable List<ObservedCounts.Seen> observed)
            implements OperationResponseBody {}

    /**
     * Everything that the console's start page shows.
     *
     * @param parked the first page of parked keys, or an error response that explains why they are missing
     */
    record Overview(
            Prevented.Counts sinceStart,
            @Nullable List<ListenerDescription> listeners,
            @Nullable List<ObservedCounts.Seen> observed,
            @Nullable OperationResponseBody parked)
            implements OperationResponseBody {}

    /**
     * Returns the claim of a key. Without parameters, returns the running listeners and the prevented repeats.
     *
     * @param keyHash the key's hash (16 hexadecimal digits in log lines), if the caller does not know the key
     */
    @ReadOperation
    public WebEndpointResponse<OperationResponseBody> read(
            @Nullable Object scope, @Nullable Object key, @Nullable Object keyHash) {
        if (scope == null && key == null && keyHash == null) {
            return new WebEndpointResponse<>(listeners());
        }
        return answer(() -> keys.show(NamedKey.of(scope, key, keyHash)));
    }

    /**
     * Answers a request for a path below the endpoint, for example {@code /actuator/exactlyonce/parked}:
     *
     * <ul>
     *   <li>{@code parked}: the parked keys of all instances, the oldest first
     *   <li>{@code dead-letters}: up to ten messages of each dead-letter queue of a listener
     *   <li>{@code overview}: everything that the console's start page shows
     * </ul>
     *
     * @param part {@code parked}, {@code dead-letters} or {@code overview}
     * @param scope the scope of the parked keys; {@code null} for all scopes
     * @param error show only keys that were parked for this class of exception; {@code null} for all keys
     * @param limit at most this many parked keys are returned
     * @param after for the next page of parked keys, the value of {@code next} in the previous response
     * @param listener the listener whose dead letters are shown
     */
    @ReadOperation
    public WebEndpointResponse<OperationResponseBody> readPart(
            SecurityContext security,
            @Selector String part,
            @Nullable Object scope,
            @Nullable Object error,
            @Nullable Object limit,
            @Nullable Object after,
            @Nullable Object listener) {
        UnaryOperator<String> keysShown = key -> shown.shown(security, key);
        return answer(() -> switch (part) {
            case PARKED -> parked.list(keysShown, scope, error, limit, after);
            case DEAD_LETTERS ->
                withListener(
                        Parameters.text("listener", listener),
                        named -> looking.answer(
                                () -> deadLetters.show(named.get(0).listener(), named, keysShown)));
            case OVERVIEW -> overview(parked.list(keysShown, scope, error, limit, null));
            default -> noPart();
        });
    }

    private WebEndpointResponse<OperationResponseBody> overview(WebEndpointResponse<OperationResponseBody> parkedKeys) {
        Listeners all = listeners();
        return new WebEndpointResponse<>(
                new Overview(all.sinceStart(), all.listeners(), all.observed(), parkedKeys.getBody()));
    }

    private static WebEndpointResponse<OperationResponseBody> noPart() {
        return Refused.of(
                STATUS_NOT_FOUND, "this endpoint has '%s', '%s' and '%s'".formatted(PARKED, DEAD_LETTERS, OVERVIEW));
    }

    private static WebEndpointResponse<OperationResponseBody> answer(
            Supplier<WebEndpointResponse<OperationResponseBody>> request) {
        try {
            return request.get();
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
     * Releases or completes a parked key. If the request contains {@code action}, redrives all dead letters of a
     * listener instead.
     *
     * @param keyHash the key's hash (16 hexadecimal digits in log lines), if the caller does not know the key
     * @param claimId the parked claim's id, as the endpoint showed it. If the key was claimed again since then, the
     *     request changes nothing
     * @param decision {@code release} if the handler may run again; {@code complete} if the handler's effect has
     *     happened
     * @param reason the caller's reason, which is logged
     * @param listener the listener whose dead letters are redriven
     * @param action {@code redrive}, or absent
     */
    @WriteOperation
    public WebEndpointResponse<OperationResponseBody> write(
            SecurityContext security,
            @Nullable Object scope,
            @Nullable Object key,
            @Nullable Object keyHash,
            @Nullable Object claimId,
            @Nullable Object decision,
            @Nullable Object reason,
            @Nullable Object listener,
            @Nullable Object action) {
        return answer(() -> {
            if ((decision == null) == (action == null)) {
                throw new IllegalArgumentException(
                        "a request needs either a decision with scope and key, or an action with listener");
            }
            return decision == null
                    ? redrive(security, Parameters.text("listener", listener), Parameters.text("action", action))
                    : keys.decide(
                            asking(security),
                            NamedKey.of(scope, key, keyHash),
                            claimId == null ? null : Parameters.claimId("claimId", claimId),
                            Parameters.text("decision", decision),
                            reason == null ? null : Parameters.reason(reason));
        });
    }

    /**
     * Releases or completes many parked keys, or redrives chosen dead letters of a listener.
     *
     * <p>Parked keys are chosen in one of two ways: by the ids of their claims ({@code claims}), or by a filter
     * ({@code scope}, {@code error} or both). A request with a filter must be preceded by a dry run.
     *
     * @param part {@code parked} or {@code dead-letters}
     * @param decision {@code release} if the handlers may run again; {@code complete} if their effects have happened
     * @param reason the caller's reason, which is logged
     * @param claims ids of parked claims, separated by commas
     * @param scope filter: the scope of the keys
     * @param error filter: the class of the exception for which the keys were parked
     * @param parkedUntil {@code parkedUntil} from the response to the dry run. Keys that were parked later stay parked.
     *     Required with a filter
     * @param limit how many keys the filter may choose
     * @param dryRun whether to change nothing, and only to return the claims that would change
     * @param listener the listener whose dead letters are redriven
     * @param messages ids of the messages to redrive, separated by commas
     * @param keyHashes alternative to {@code messages}: hashes of keys, separated by commas. All messages that are
     *     found with these keys are redriven
     */
    @WriteOperation
    public WebEndpointResponse<OperationResponseBody> writePart(
            SecurityContext security,
            @Selector String part,
            @Nullable Object decision,
            @Nullable Object reason,
            @Nullable Object claims,
            @Nullable Object scope,
            @Nullable Object error,
            @Nullable Object parkedUntil,
            @Nullable Object limit,
            @Nullable Object dryRun,
            @Nullable Object listener,
            @Nullable Object messages,
            @Nullable Object keyHashes) {
        return answer(() -> switch (part) {
            case PARKED ->
                parked.decide(
                        key -> shown.shown(security, key),
                        asking(security),
                        ParkedRequests.Request.of(decision, reason, claims, scope, error, parkedUntil, limit, dryRun));
            case DEAD_LETTERS -> {
                if ((messages == null) == (keyHashes == null)) {
                    throw new IllegalArgumentException("one of messages and keyHashes is needed beside listener");
                }
                Set<String> chosen = keyHashes == null
                        ? Parameters.texts("messages", messages, DeadLetters.MOST)
                        : Parameters.texts("keyHashes", keyHashes, DeadLetters.MOST);
                String why = Parameters.reason(reason);
                yield withListener(
                        Parameters.text("listener", listener),
                        named -> redriving.answer(() -> deadLetters.redrive(
                                asking(security), named.get(0).listener(), named, chosen, keyHashes != null, why)));
            }
            default -> noPart();
        });
    }

    private WebEndpointResponse<OperationResponseBody> redrive(
            SecurityContext security, String listener, String action) {
        if (!"redrive".equals(action)) {
            throw new IllegalArgumentException("action must be 'redrive'");
        }
        return withListener(listener, named -> redriving.answer(() -> redrive(asking(security), listener, named)));
    }

    private WebEndpointResponse<OperationResponseBody> withListener(
            String listener, Function<List<Subscription>, WebEndpointResponse<OperationResponseBody>> request) {
        List<Subscription> named = listeners.all().stream()
                .filter(subscription -> subscription.listener().equals(listener))
                .toList();
        // If no listener has the requested name, the name is not logged, because a caller can send any text.
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
        return request.apply(named);
    }

    /**
     * Asks SQS to move the listener's dead letters. Only one such request runs at a time. Several could occupy all
     * connections of the SQS client, and delay the renewal of visibility timeouts.
     */
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
