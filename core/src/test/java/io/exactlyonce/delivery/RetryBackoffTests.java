package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryBackoffTests {

    private static final RetryBackoff ONE_MINUTE =
            new RetryBackoff(Duration.ofSeconds(1), Duration.ofSeconds(60), () -> 0);
    private static final ScriptedQueue QUEUE = new ScriptedQueue();
    private static final double ALMOST_ONE = Math.nextDown(1.0);

    private final RetryBackoff backoff = at(0);

    @ParameterizedTest
    @CsvSource({"-1, 1000", "0, 1000", "1, 1000", "2, 2000", "3, 4000", "8, 128000"})
    void delayDoublesWithEachReceive(int receiveCount, long millis) {
        assertThat(backoff.least(receiveCount)).isEqualTo(Duration.ofMillis(millis));
    }

    @Test
    void delayIsBetweenHalfAndAllOfItByChance() {
        assertThat(at(0.5).after(receive(1))).isEqualTo(Duration.ofMillis(1_500));
        assertThat(at(ALMOST_ONE).after(receive(1))).isBetween(Duration.ofMillis(1_999), Duration.ofSeconds(2));
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 33, 65, Integer.MAX_VALUE})
    void delayNeverExceedsTheLongest(int receiveCount) {
        assertThat(backoff.least(receiveCount)).isEqualTo(Duration.ofSeconds(150));
        assertThat(at(ALMOST_ONE).after(receive(receiveCount))).isLessThanOrEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void aSecondReachesTwelveHours() {
        RetryBackoff wide = new RetryBackoff(Duration.ofSeconds(1), Duration.ofHours(12));

        assertThat(wide.least(1_000)).isEqualTo(Duration.ofHours(6));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 4", "4, 150", "5, 150", "6, 150"})
    void lastReceivesBeforeTheDeadLetterQueueAreSpared(int receiveCount, int seconds) {
        Delivery untried = delivery(receiveCount, null, 5);

        assertThat(backoff.sparing(untried)).isEqualTo(Duration.ofSeconds(seconds));
        assertThat(at(ALMOST_ONE).sparing(untried)).isLessThanOrEqualTo(Duration.ofMinutes(5));
    }

    @ParameterizedTest
    @CsvSource({"1, 300, 60", "2, 300, 75", "3, 300, 100", "4, 300, 150", "5, 300, 300", "6, 300, 300", "5, 1, 30"})
    void receivesThatAreLeftCoverTheOwnersTimeoutButNeverShortenTheBackoff(
            int receiveCount, long timeout, long seconds) {
        assertThat(ONE_MINUTE.sparing(delivery(receiveCount, Duration.ofSeconds(timeout), 5)))
                .isEqualTo(Duration.ofSeconds(seconds));
    }

    @ParameterizedTest
    @CsvSource({"1, 5, 0", "5, 5, 0", "1, 1000, 1", "990, 1000, 1", "991, 1000, 0", "1000, 1000, 0"})
    void messageOfAParkedKeyLeavesItsQueueSoonWithoutAHotLoop(int receiveCount, int most, long seconds) {
        assertThat(backoff.parked(delivery(receiveCount, null, most))).isEqualTo(Duration.ofSeconds(seconds));
    }

    @Test
    void messageOfAParkedKeyThatItsQueueKeepsBacksOff() {
        assertThat(backoff.parked(receive(3))).as("no dead-letter queue").isEqualTo(Duration.ofSeconds(4));
        assertThat(backoff.parked(delivery(6, null, 5)))
                .as("a redrive policy that is gone")
                .isEqualTo(Duration.ofSeconds(32));
    }

    private static RetryBackoff at(double chance) {
        return new RetryBackoff(Duration.ofSeconds(2), Duration.ofMinutes(5), () -> chance);
    }

    private static Delivery receive(int receiveCount) {
        return delivery(receiveCount, null, null);
    }

    private static Delivery delivery(int receiveCount, @Nullable Duration timeout, @Nullable Integer maxReceiveCount) {
        Subscription orders = new Subscription(
                "listener",
                "orders",
                new QueueSettings(VisibilityWindow.ofSeconds(30), maxReceiveCount),
                timeout,
                QUEUE,
                PollGate.OPEN);
        return new Delivery(orders, orders.settings(), "message", "handle", receiveCount, 0);
    }
}
