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
 * Reports whether this instance can store and renew claims. The health is up if all of these are true:
 *
 * <ul>
 *   <li>The store responds.
 *   <li>If the store is a database, the connection leads to a primary (not a replica), and the claim table exists.
 *   <li>The threads that renew visibility timeouts and leases have not stalled.
 *   <li>No listener is paused because the store does not respond.
 * </ul>
 *
 * <p>The details also count unexpected errors in this library, such as {@link OutOfMemoryError}. Listeners continue
 * after such an error, but an application that ran out of memory should be restarted.
 *
 * <p>This indicator does not change the application's overall health. If the store is down, listeners pause and lose no
 * messages, HTTP requests can still be served, and a restart would not help. A health group can name this indicator to
 * include it.
 */
public final class ClaimHealthIndicator extends AbstractHealthIndicator implements HealthEndpointGroupsPostProcessor {

    /** Boot's contributor name for the bean {@code exactlyOnceHealthIndicator}. */
    private static final String CONTRIBUTOR = "exactlyOnce";

    /**
     * The health is down if the thread that looks for due renewals has not run for this long. That thread normally runs
     * ten times a second.
     */
    private static final Duration LATE = Duration.ofSeconds(2);

    private final ClaimBackend backend;
    private final Renewer supervisor;
    private final ListenerStates listeners;

    /** The health check that runs at the moment; {@code null} if none runs. */
    private final AtomicReference<@Nullable FutureTask<Map<String, Object>>> asking = new AtomicReference<>();

    /** @param supervisor renews visibility timeouts and leases. If its threads stall, the health is down */
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
     * Sends a test request to the store, through the connections that claims use.
     *
     * <p>If several callers ask for the health at the same time, only the first one sends a request. The others wait,
     * and return the same response.
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
