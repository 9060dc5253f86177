package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.queue.Subscription;
import java.util.List;

/**
 * Decides how long a claim without an answer is repeated. While no claim on its path is answered, it is repeated
 * without a limit. While others are answered, it is repeated a few times. On a message's last receive it is repeated
 * without a limit, because the message would leave its queue untried. It is no longer repeated when no delivery needs
 * it. After a few failures its deliveries count as waiting.
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
        // An attempt that began in an outage says nothing about later answers.
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
