package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.queue.Subscription;
import java.util.List;

/**
 * Decides whether to repeat a claim that got no answer. Does not repeat it if all its deliveries were stopped or lost
 * their visibility timeouts. Otherwise:
 * <ul>
 * <li>While the circuit breaker is open, repeats the claim without a limit.
 * <li>If a message is on its last receive, repeats the claim without a limit. Otherwise the message would move to the
 * dead-letter queue without a call of its handler.
 * <li>In all other cases, repeats the claim a few times.
 * </ul>
 *
 * <p>After a few failures, the deliveries of the claim are added to the listener's count of waiting deliveries.
 */
final class Repeats {

    private final List<Delivery> asking;
    private final Subscription subscription;
    private int failures;
    private int alone;
    private boolean wasPaused;
    private boolean isWaiting;

    Repeats(List<Delivery> asking) {
        this.asking = asking;
        this.subscription = asking.get(0).subscription();
    }

    boolean shouldRetry(Throwable failure) {
        subscription.gate().unanswered(failure);
        boolean isPaused = subscription.gate().isPaused();
        // The limit is for failures of this call alone. While the circuit breaker is open, other claims fail, too, so
        // such failures do not count.
        alone += isPaused || wasPaused ? 0 : 1;
        wasPaused = isPaused;
        if (asking.stream().noneMatch(Delivery::mayStillBeHandled)) {
            return false;
        }
        failures++;
        if (failures == RetryingClaimClient.FEW) {
            isWaiting = true;
            subscription.levels().waiting().addAndGet(asking.size());
        }
        return alone < RetryingClaimClient.FEW || isPaused || asking.stream().anyMatch(Delivery::isOnItsLastReceive);
    }

    void end() {
        if (isWaiting) {
            isWaiting = false;
            subscription.levels().waiting().addAndGet(-asking.size());
        }
    }
}
