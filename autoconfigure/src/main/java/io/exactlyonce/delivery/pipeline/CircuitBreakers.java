package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.time.NanoClock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A circuit breaker for each way on which claims are made: the claim store, and each of the application's transaction
 * managers. Each has connections of its own, so that one may fail while the rest work.
 */
public final class CircuitBreakers {

    private final NanoClock clock;
    private final CircuitBreaker claims;
    private final Map<String, CircuitBreaker> managers = new ConcurrentHashMap<>();

    /** A transaction, and the breaker of its manager. */
    private record Guarded(ClaimTransaction transaction, CircuitBreaker breaker) implements ClaimTransaction {

        @Override
        public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception {
            return transaction.execute(requests, work);
        }

        @Override
        public boolean isWithin(ClaimId claim) {
            return transaction.isWithin(claim);
        }

        @Override
        public String toString() {
            return breaker.toString();
        }
    }

    /** @param clock monotonic, in nanoseconds */
    public CircuitBreakers(NanoClock clock) {
        this.clock = clock;
        this.claims = new CircuitBreaker("claims", "the claim store", clock);
    }

    /**
     * Returns a transaction of a manager that {@link #of} finds the breaker of.
     *
     * @param manager the transaction manager's name: one for each
     */
    public ClaimTransaction guard(ClaimTransaction transaction, String manager) {
        return new Guarded(
                transaction,
                managers.computeIfAbsent(
                        manager, name -> new CircuitBreaker(name, "transaction manager '%s'".formatted(name), clock)));
    }

    /**
     * Returns the breaker of a listener.
     *
     * @param transaction in which its handler runs together with its claim; {@code null} if it claims through the store
     */
    public CircuitBreaker of(@Nullable ClaimTransaction transaction) {
        return transaction instanceof Guarded guarded ? guarded.breaker() : claims;
    }
}
