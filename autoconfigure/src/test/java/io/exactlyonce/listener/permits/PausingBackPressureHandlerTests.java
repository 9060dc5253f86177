package io.exactlyonce.listener.permits;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.BackPressureMode;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactories;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactory;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.ConcurrencyLimiterBlockingBackPressureHandler;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.coalescing.ExecutorClaimStore;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.waiting.StoreCircuitBreaker;
import io.exactlyonce.visibility.ScriptedStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PausingBackPressureHandlerTests {

    private final ScriptedStore store = new ScriptedStore();
    private final StoreCircuitBreaker breaker = new StoreCircuitBreaker(new DeliveryObserver() {});
    private final AsyncClaimStore guarded = breaker.guard(new ExecutorClaimStore(store, Runnable::run));
    private final BatchAwareBackPressureHandler handler =
            (BatchAwareBackPressureHandler) PausingBackPressureHandler.around(
                            BackPressureHandlerFactories.adaptiveThroughputBackPressureHandler(),
                            breaker,
                            true,
                            System::nanoTime)
                    .createBackPressureHandler(SqsContainerOptions.builder()
                            .maxConcurrentMessages(10)
                            .maxDelayBetweenPolls(Duration.ofMillis(10))
                            .build());

    private void openBreaker() {
        for (int i = 0; i < 3; i++) {
            store.onClaim(() -> {
                throw new IllegalStateException("connection refused");
            });
            try {
                ClaimWriter.await(guarded.claimAsync(List.of()));
            } catch (IllegalStateException expected) {
                continue;
            }
        }
        assertThat(breaker.permitsPolling()).isFalse();
    }

    @Test
    void applicationsOwnLimitsApplyWhileTheGateIsOpen() throws Exception {
        assertThat(handler.requestBatch()).isEqualTo(10);
        assertThat(handler.request(1)).isZero();

        handler.release(10, ReleaseReason.PROCESSED);

        assertThat(handler.drain(Duration.ofMillis(10))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"AUTO, 6", "FIXED_HIGH_THROUGHPUT, 6", "ALWAYS_POLL_MAX_MESSAGES, 0"})
    void modesOfAwspringsOwnLimitPermitsAsTheyAreConfigured(BackPressureMode mode, int permitsForLessThanAPoll)
            throws Exception {
        SqsContainerOptions options = SqsContainerOptions.builder()
                .maxConcurrentMessages(10)
                .maxDelayBetweenPolls(Duration.ofMillis(10))
                .backPressureMode(mode)
                .build();
        var limited = (BatchAwareBackPressureHandler) PausingBackPressureHandler.around(
                        options.getBackPressureHandlerFactory(), breaker, true, System::nanoTime)
                .createBackPressureHandler(options);

        assertThat(limited.request(6)).isEqualTo(permitsForLessThanAPoll);

        limited.release(permitsForLessThanAPoll, ReleaseReason.NONE_FETCHED);
        assertThat(limited.requestBatch()).isEqualTo(10);
        assertThat(limited.requestBatch()).isZero();
    }

    @Test
    void nothingIsPolledWhileTheGateIsClosedAndNoPermitIsKept() throws Exception {
        openBreaker();

        assertThat(handler.requestBatch()).isZero();
        assertThat(handler.request(1)).isZero();

        assertThat(handler.drain(Duration.ofMillis(10))).isTrue();
    }

    /** Thousands of messages that end together leave permits for hundreds of polls, and the SDK's client has 50 connections. */
    @Test
    void noMoreThanTenPollsWaitForMessagesHoweverManyPermitsThereAre() throws Exception {
        var busy = (PausingBackPressureHandler) PausingBackPressureHandler.around(
                        BackPressureHandlerFactories.concurrencyLimiterBackPressureHandler(),
                        breaker,
                        true,
                        System::nanoTime)
                .createBackPressureHandler(SqsContainerOptions.builder()
                        .maxConcurrentMessages(1_000)
                        .build());
        List<CompletableFuture<Void>> polls =
                Stream.generate(() -> new CompletableFuture<Void>()).limit(10).toList();
        for (CompletableFuture<Void> poll : polls) {
            assertThat(busy.requestBatch()).isEqualTo(10);
            busy.polling(poll);
        }

        assertThat(busy.requestBatch()).isZero();

        polls.get(3).completeExceptionally(new IllegalStateException("connection reset"));
        assertThat(busy.requestBatch()).isEqualTo(10);
    }

    @Test
    void handlerThatKnowsNoBatchesIsLeftToAwspring() {
        BackPressureHandler plain = new BackPressureHandler() {
            @Override
            public int request(int amount) {
                return amount;
            }

            @Override
            public void release(int amount, ReleaseReason reason) {}

            @Override
            public boolean drain(Duration timeout) {
                return true;
            }
        };

        assertThat(PausingBackPressureHandler.around(options -> plain, breaker, true, System::nanoTime)
                        .createBackPressureHandler(SqsContainerOptions.builder().build()))
                .isSameAs(plain);
    }

    @Test
    void handlerWithoutAnIdIsGivenNone() {
        PausingBackPressureHandler around = new PausingBackPressureHandler(
                new ClosingMeanwhile(handler, () -> {}),
                breaker,
                new HandlerSlots(10, 10, System::nanoTime),
                System::nanoTime);

        around.setId("orders");

        assertThat(around.getId()).isEqualTo("orders");
    }

    @Test
    void permitsThatCameAfterTheGateClosedAreGivenBack() throws Exception {
        BatchAwareBackPressureHandler slow = new PausingBackPressureHandler(
                new ClosingMeanwhile(handler, this::openBreaker),
                breaker,
                new HandlerSlots(10, 10, System::nanoTime),
                System::nanoTime);

        assertThat(slow.requestBatch()).isZero();
        ClaimWriter.await(guarded.claimAsync(List.of()));
        assertThat(breaker.permitsPolling()).isTrue();
        assertThat(handler.requestBatch()).isEqualTo(10);
        handler.release(10, ReleaseReason.NONE_FETCHED);

        assertThat(handler.drain(Duration.ofMillis(10))).isTrue();
    }

    private record ClosingMeanwhile(BatchAwareBackPressureHandler original, Runnable close)
            implements BatchAwareBackPressureHandler {

        @Override
        public int requestBatch() throws InterruptedException {
            int permits = original.requestBatch();
            close.run();
            return permits;
        }

        @Override
        public int request(int amount) throws InterruptedException {
            return original.request(amount);
        }

        @Override
        public void release(int amount, ReleaseReason reason) {
            original.release(amount, reason);
        }

        @Override
        public boolean drain(Duration timeout) {
            return original.drain(timeout);
        }
    }

    private int lent(SqsContainerOptions options) {
        HandlerSlots slots = ((PausingBackPressureHandler) PausingBackPressureHandler.around(
                                options.getBackPressureHandlerFactory(), breaker, true, System::nanoTime)
                        .createBackPressureHandler(options))
                .slots();
        slots.arrive(1);
        slots.take(1).thenAccept(slots::end);
        return slots.arrive(1);
    }

    @Test
    void permitsAreLentWhereAwspringsOwnLimitApplies() {
        assertThat(lent(SqsContainerOptions.builder().build())).isOne();
    }

    /** Its limit may be lower than the listener's number, and what it is told to be released it takes for ended. */
    @Test
    void nothingIsLentOfPermitsThatTheApplicationsOwnBackPressureGives() {
        BackPressureHandlerFactory one = options -> ConcurrencyLimiterBlockingBackPressureHandler.builder()
                .batchSize(1)
                .totalPermits(1)
                .acquireTimeout(Duration.ofMillis(10))
                .build();

        assertThat(lent(SqsContainerOptions.builder()
                        .backPressureHandlerFactory(one)
                        .build()))
                .isZero();
    }
}
