package io.exactlyonce.listener.permits;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactories;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.waiting.StoreCircuitBreaker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Permits of a listener for two messages at once, with awspring's own arithmetic below. */
class TurnsTests {

    private static final Duration SHORT = Duration.ofMillis(20);

    private final PausingBackPressureHandler permits = (PausingBackPressureHandler) PausingBackPressureHandler.around(
                    BackPressureHandlerFactories.concurrencyLimiterBackPressureHandler(),
                    new StoreCircuitBreaker(new DeliveryObserver() {}),
                    true,
                    System::nanoTime)
            .createBackPressureHandler(SqsContainerOptions.builder()
                    .maxConcurrentMessages(2)
                    .maxMessagesPerPoll(2)
                    .maxDelayBetweenPolls(SHORT)
                    .build());

    private void release(int amount) {
        permits.release(amount, ReleaseReason.PROCESSED);
    }

    @Test
    void messageThatGoesOnAfterItsWaitIsPaidForByTheNextPermitThatIsReleased() throws Exception {
        assertThat(permits.requestBatch()).isEqualTo(2);
        assertThat(permits.takeBack()).isCompleted();

        release(1);
        assertThat(permits.request(1)).as("two are handled").isZero();
        release(1);
        assertThat(permits.request(1)).as("one is handled").isOne();
    }

    @Test
    void noMoreThanTwiceTheListenersNumberGoOn() {
        assertThat(permits.takeBack()).isCompleted();
        assertThat(permits.takeBack()).isCompleted();
        CompletableFuture<?> third = permits.takeBack();
        assertThat(third).isNotDone();

        release(1);

        assertThat(third).isCompleted();
    }

    /** Otherwise a listener that stops would interrupt what it has just let go on. */
    @Test
    void listenerThatStopsWaitsForMessagesThatWentOnWithoutAPermit() {
        assertThat(permits.takeBack()).isCompleted();
        assertThat(permits.drain(SHORT)).isFalse();
    }

    @Test
    void listenerThatStopsWaitsForNothingElse() throws Exception {
        assertThat(permits.requestBatch()).isEqualTo(2);
        var unused = permits.takeBack();
        release(3);

        assertThat(permits.drain(SHORT)).isTrue();
    }
}
