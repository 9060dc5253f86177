package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.queue.Subscription;
import java.util.List;

/**
 * Decides whether a claim without an answer is repeated. A claim is repeated only while one of its deliveries may still
 * be handled. The number of repetitions is:
 * <ul>
 * <li>unlimited while no claim on the path is answered
 * <li>small while other claims are answered
 * <li>always unlimited if a message is on its last receive, because the message would otherwise leave its queue without
 * a call of its handler
 * </ul>
 *
 * <p>After a few failures, the deliveries of this claim count as waiting.
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
        // An attempt that began or ended in an outage does not count, because other claims got no answer either.
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
