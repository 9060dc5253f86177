package io.exactlyonce.actuate;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.renewal.Renewer;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports whether claims can be stored and renewed. The health is up under four conditions:
 *
 * <ul>
 *   <li>The store responds.
 *   <li>If the store is a database, it is a primary with the claim table.
 *   <li>Renewals are checked in time.
 *   <li>No listener is paused because the store does not respond.
 * </ul>
 *
 * <p>The details contain the number of crashes. Listeners continue after a crash, but an application that ran out of
 * memory should be restarted.
 *
 * <p>Only health groups that name this indicator include it, so it does not change the application's overall health.
 * While the store is unavailable, listeners pause and lose nothing. A restart would not help, and HTTP requests can
 * still be served.
 */
public final class ClaimHealthIndicator extends AbstractHealthIndicator implements HealthEndpointGroupsPostProcessor {

    /** Boot's contributor name for the bean {@code exactlyOnceHealthIndicator}. */
    private static final String CONTRIBUTOR = "exactlyOnce";

    /**
     * The time without a check of renewals after which the health is down. Renewals are normally checked ten times a
     * second, and visibility timeouts are at least a second.
     */
    private static final Duration LATE = Duration.ofSeconds(2);

    private final ClaimBackend backend;
    private final Renewer supervisor;
    private final ListenerStates listeners;

    /** The check that is waiting for the store; {@code null} if there is none. */
    private final AtomicReference<@Nullable FutureTask<Map<String, Object>>> asking = new AtomicReference<>();

    /**
     * Makes the indicator.
     *
     * @param backend the store's backend
     * @param supervisor the renewer, whose checks must be in time
     */
    public ClaimHealthIndicator(ClaimBackend backend, Renewer supervisor, ListenerStates listeners) {
        super("Claims cannot be kept");
        this.backend = backend;
        this.supervisor = supervisor;
        this.listeners = listeners;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        Duration sinceTick = supervisor.sinceLastTick();
        List<String> paused = listeners.all().stream()
                .filter(listener -> listener.gate().isPaused())
                .map(listener -> "%s: no answer to claims by %s"
                        .formatted(listener, listener.gate().claimPath()))
                .toList();
        builder.withDetail("millisSinceRenewalCheck", sinceTick.toMillis())
                .withDetail("pausedListeners", paused)
                .withDetail("crashes", Boundary.crashes());
        if (Boundary.crashes() > 0) {
            builder.withDetail("secondsSinceCrash", Boundary.sinceLastCrash().toSeconds());
        }
        builder.withDetails(proof());
        if (sinceTick.compareTo(LATE) > 0 || !paused.isEmpty()) {
            builder.down();
        } else {
            builder.up();
        }
    }

    /**
     * Checks the store with the connections of claims, because the health of these connections is reported. Callers
     * that arrive during a check share its result, so any number of callers uses one connection for one round trip.
     */
    private Map<String, Object> proof() {
        FutureTask<Map<String, Object>> question = new FutureTask<>(backend::prove);
        FutureTask<Map<String, Object>> asked = asking.compareAndExchange(null, question);
        if (asked == null) {
            question.run();
            asking.set(null);
        }
        try {
            return (asked == null ? question : asked).get();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failed);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while claims were checked", stopped);
        }
    }

    @Override
    public HealthEndpointGroups postProcessHealthEndpointGroups(HealthEndpointGroups groups) {
        return HealthEndpointGroups.of(
                withoutClaims(groups.getPrimary()),
                groups.getNames().stream()
                        .collect(Collectors.toMap(name -> name, name -> Objects.requireNonNull(groups.get(name)))));
    }

    private static HealthEndpointGroup withoutClaims(HealthEndpointGroup all) {
        return (HealthEndpointGroup) Proxy.newProxyInstance(
                HealthEndpointGroup.class.getClassLoader(),
                new Class<?>[] {HealthEndpointGroup.class},
                (proxy, method, arguments) -> method.getName().equals("isMember") && CONTRIBUTOR.equals(arguments[0])
                        ? false
                        : AopUtils.invokeJoinpointUsingReflection(all, method, arguments));
    }
}
