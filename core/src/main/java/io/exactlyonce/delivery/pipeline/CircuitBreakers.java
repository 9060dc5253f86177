package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.time.NanoClock;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a circuit breaker for the claim store, and one for each transaction manager of the application. The claim store
 * and the transaction managers use different connections, so one of them may fail while the others work.
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
     * Registers a listener's transaction, so that {@link #of} finds its breaker.
     *
     * @param manager the unique name of the transaction manager. Transactions of the same manager share a breaker
     * @return the same transaction
     */
    public ClaimTransaction guard(ClaimTransaction transaction, String manager) {
        transactions.put(
                transaction,
                managers.computeIfAbsent(
                        manager, name -> new CircuitBreaker(name, "transaction manager '%s'".formatted(name), clock)));
        return transaction;
    }

    /**
     * Returns the breaker for a listener.
     *
     * @param transaction the listener's transaction; {@code null} if the listener claims through the claim store
     */
    public CircuitBreaker of(@Nullable ClaimTransaction transaction) {
        return transaction == null ? claims : transactions.getOrDefault(transaction, claims);
    }
}
