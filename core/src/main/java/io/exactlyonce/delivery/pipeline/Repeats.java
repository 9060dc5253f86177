package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.queue.Subscription;
import java.util.List;

/**
 * Decides how long a claim without an answer is repeated: while no claim on its path is answered, a few times while
 * others are, and forever if its message would otherwise leave its queue untried; but not once it is useless.
 * Counts its deliveries as waiting once it has failed a few times.
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
