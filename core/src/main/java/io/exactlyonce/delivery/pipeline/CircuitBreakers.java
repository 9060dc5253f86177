package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.time.NanoClock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A circuit breaker for each claim path: the claim store, and each application transaction manager. Each path has its
 * own connections, so one may fail while the others work.
 */
public final class CircuitBreakers {

    private final NanoClock clock;
    private final CircuitBreaker claims;
    private final Map<String, CircuitBreaker> managers = new ConcurrentHashMap<>();
    private final Map<ClaimTransaction, CircuitBreaker> transactions = new ConcurrentHashMap<>();

    /** @param clock monotonic, in nanoseconds */
    public CircuitBreakers(NanoClock clock) {
        this.clock = clock;
        this.claims = new CircuitBreaker("claims", "the claim store", clock);
    }

    /**
     * Registers a transaction for {@link #of}, and returns it.
     *
     * @param manager the unique name of its transaction manager
     */
    public ClaimTransaction guard(ClaimTransaction transaction, String manager) {
        transactions.put(
                transaction,
                managers.computeIfAbsent(
                        manager, name -> new CircuitBreaker(name, "transaction manager '%s'".formatted(name), clock)));
        return transaction;
    }

    /**
     * Returns the breaker of a listener.
     *
     * @param transaction the transaction of the handler and its claim; {@code null} if the listener claims through
     *     the store
     */
    public CircuitBreaker of(@Nullable ClaimTransaction transaction) {
        return transaction == null ? claims : transactions.getOrDefault(transaction, claims);
    }
}
