package io.exactlyonce.listener.permits;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactories;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.waiting.StoreCircuitBreaker;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Outcomes on their way to the store hold no permit: they are bounded, awaited and told nevertheless. */
class UnderWayTests {

    private static final Duration SHORT = Duration.ofMillis(20);

    private final List<Integer> told = new ArrayList<>();
    private final DeliveryObserver observer = new DeliveryObserver() {
        @Override
        public void completing(Subscription subscription, int deliveries) {
            told.add(deliveries);
        }
    };
    private final UnderWay pending =
            new UnderWay(2, count -> observer.completing(ListenerRig.delivery().subscription(), count));
    private final PausingBackPressureHandler permits = (PausingBackPressureHandler) PausingBackPressureHandler.around(
                    BackPressureHandlerFactories.concurrencyLimiterBackPressureHandler(),
                    new StoreCircuitBreaker(observer),
                    true,
                    System::nanoTime)
            .createBackPressureHandler(SqsContainerOptions.builder()
                    .maxConcurrentMessages(2)
                    .maxMessagesPerPoll(2)
                    .maxDelayBetweenPolls(SHORT)
                    .build());

    @Test
    void listenerDoesNotPollWhileAsManyOutcomesAsItMayHandleAreNotOnRecord() throws Exception {
        permits.await(pending);
        CompletableFuture<Void> first = new CompletableFuture<>();
        CompletableFuture<Void> second = new CompletableFuture<>();
        pending.add(first);
        assertThat(pending.awaitRoom(Duration.ZERO)).isTrue();
        pending.add(second);

        assertThat(pending.awaitRoom(Duration.ZERO)).isFalse();
        assertThat(pending.awaitRoom(SHORT)).isFalse();

        first.completeExceptionally(new IllegalStateException("whatever it was, it is over"));
        assertThat(permits.requestBatch()).isEqualTo(2);
        assertThat(told).containsExactly(1, 2, 1);
    }

    @Test
    void waitingPollGoesOnWhenThereIsRoom() throws Exception {
        CompletableFuture<Void> settled = new CompletableFuture<>();
        pending.add(settled);
        pending.add(new CompletableFuture<>());
        CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> settled.complete(null));

        assertThat(pending.awaitRoom(Duration.ofSeconds(30))).isTrue();
        unused.get(30, TimeUnit.SECONDS);
    }

    @Test
    void listenerThatStopsWaitsForThemAsForItsHandlersAndNoLonger() throws Exception {
        permits.await(pending);
        assertThat(permits.requestBatch()).isEqualTo(2);
        CompletableFuture<Void> settled = new CompletableFuture<>();
        pending.add(settled);
        permits.release(2, ReleaseReason.PROCESSED);

        assertThat(pending.awaitNone(SHORT)).isFalse();
        CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(() -> permits.drain(Duration.ofSeconds(30)));
        settled.complete(null);

        assertThat(drained.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void whatIsOnRecordAlreadyIsNotCounted() {
        pending.add(CompletableFuture.completedFuture(null));

        assertThat(told).isEmpty();
        assertThat(pending.awaitNone(Duration.ZERO)).isTrue();
    }

    @Test
    void handlerWithoutALimitOfItsOwnIsNoLess() throws Exception {
        BatchAwareBackPressureHandler unbound = permits;

        assertThat(unbound.requestBatch()).isEqualTo(2);
        unbound.release(2, ReleaseReason.NONE_FETCHED);
        assertThat(unbound.drain(SHORT)).isTrue();
    }
}
