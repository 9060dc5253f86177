package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.time.NanoClock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A circuit breaker for each claim path: the claim store, and each application transaction
 * managers. Each has connections of its own, so that one may fail while the rest work.
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
     * Notes a transaction for {@link #of}, and returns it.
     *
     * @param manager its transaction manager's name: one for each
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
     * @param transaction in which its handler runs together with its claim; {@code null} if it claims through the store
     */
    public CircuitBreaker of(@Nullable ClaimTransaction transaction) {
        return transaction == null ? claims : transactions.getOrDefault(transaction, claims);
    }
}
