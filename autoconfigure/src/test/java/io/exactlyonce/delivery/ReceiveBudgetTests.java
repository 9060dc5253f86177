package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long deliveries that were not tried stay away. */
class ReceiveBudgetTests {

    private static final RetryBackoff BACKOFF = new RetryBackoff(Duration.ofSeconds(1), Duration.ofSeconds(60));

    private final ReceiveBudget budget =
            new ReceiveBudget(BACKOFF, new CompositeDeliveryObserver(List.of()), new FakeClock(), () -> 0);

    @ParameterizedTest
    @CsvSource({"1, 60", "2, 75", "3, 100", "4, 150", "5, 300", "6, 300"})
    void receivesThatAreLeftCoverTheHoldersTimeout(int receiveCount, long seconds) {
        assertThat(budget.delay(delivery(receiveCount, Duration.ofMinutes(5), 5)))
                .isEqualTo(Duration.ofSeconds(seconds));
    }

    @Test
    void shortTimeoutDoesNotShortenTheBackoff() {
        assertThat(budget.delay(delivery(5, Duration.ofSeconds(1), 5))).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void queueWithoutADeadLetterQueueNeedsNoShare() {
        assertThat(budget.delay(delivery(1, Duration.ofMinutes(5), null))).isEqualTo(Duration.ofMillis(500));
    }

    private static Delivery delivery(int receiveCount, Duration timeout, Integer maxReceiveCount) {
        Subscription orders = new Subscription(
                "listener", "orders", VisibilityWindow.ofSeconds(30), timeout, new ScriptedQueue(), maxReceiveCount);
        return new Delivery(orders, "message", "handle", receiveCount, 0);
    }
}
