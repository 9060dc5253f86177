package io.exactlyonce.listener.container;

import static io.exactlyonce.listener.FakeReceives.message;
import static io.exactlyonce.listener.FakeReceives.messages;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.BackPressureMode;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.pipeline.CircuitBreaker;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.FakeTimer;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.renewal.Renewer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.Message;
import org.springframework.retry.RetryContext;
import org.springframework.retry.backoff.BackOffContext;
import org.springframework.retry.backoff.BackOffPolicy;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Tests a container of Spring Cloud AWS that starts, polls and stops with our consumer. */
@ExtendWith(OutputCaptureExtension.class)
class QueueConsumerTests {

    @FunctionalInterface
    private interface ThrowingConsumer<T> {

        void accept(T value) throws Exception;
    }

    static class Listener {
        @ExactlyOnceListener(queueNames = "orders", whenInDoubt = InDoubtPolicy.PARK)
        void handle(String order) {}
    }

    private final FakeReceives sqs = new FakeReceives();
    private final ScriptedStore store = new ScriptedStore();
    private final Renewer renewer = ListenerRig.renewer(store, System::nanoTime);
    private final Deliveries deliveries = ListenerRig.deliveries(renewer, Duration.ofSeconds(8), System::nanoTime);
    private ListenerEngine engine = ListenerRig.engine(deliveries, store, Runnable::run);
    private final List<Message<Object>> handled = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Void> mayEnd = new CompletableFuture<>();
    private final CompletableFuture<Void> mayEndLater = new CompletableFuture<>();

    /** Returns the handler's result for a payload: a future, or {@code null} if the handler is done. */
    private Function<String, @Nullable CompletableFuture<Void>> worker =
            payload -> payload.startsWith("slow") ? mayEnd : payload.startsWith("later") ? mayEndLater : null;

    /** An action of the handler before it returns the result of {@link #worker}. */
    private ThrowingConsumer<String> action = payload -> {};

    private final SqsMessageListenerContainer<Object> container = new SqsMessageListenerContainer<>(sqs);

    private SqsMessageListenerContainer<Object> start(Consumer<SqsContainerOptionsBuilder> configurer) {
        return start(configurer, () -> {});
    }

    /** @param interceptor runs before the listener */
    private SqsMessageListenerContainer<Object> start(
            Consumer<SqsContainerOptionsBuilder> configurer, Runnable interceptor) {
        sqs.attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, "30");
        container.setId("listener");
        container.setQueueNames("orders");
        container.configure(options -> {
            options.maxConcurrentMessages(10)
                    .pollTimeout(Duration.ofSeconds(1))
                    .listenerShutdownTimeout(Duration.ofMillis(100))
                    .acknowledgementInterval(Duration.ZERO)
                    .acknowledgementThreshold(0)
                    .queueAttributeNames(List.of(QueueAttributeName.VISIBILITY_TIMEOUT));
            configurer.accept(options);
        });
        container.setComponentFactories(
                List.of(new ConsumerComponents(engine, "listener", ListenerRig.settings(new Listener(), "handle"))));
        container.addMessageInterceptor(new MessageInterceptor<>() {
            @Override
            public Message<Object> intercept(Message<Object> message) {
                interceptor.run();
                return message;
            }
        });
        container.setAsyncMessageListener(new AsyncMessageListener<>() {
            @Override
            public CompletableFuture<Void> onMessage(Message<Object> message) {
                handled.add(message);
                return call(message);
            }
        });
        container.start();
        return container;
    }

    private CompletableFuture<Void> call(Message<Object> message) {
        CompletableFuture<Void> work = worker.apply(message.getPayload().toString());
        try {
            Object returned = engine.pipeline()
                    .handle(List.of(ReceivedMessage.require(message).delivery()), claimed -> {
                        action.accept(message.getPayload().toString());
                        return work;
                    });
            return returned instanceof CompletableFuture<?> end
                    ? end.thenApply(result -> null)
                    : CompletableFuture.completedFuture(null);
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    @AfterEach
    void stop() {
        mayEnd.complete(null);
        mayEndLater.complete(null);
        container.stop();
    }

    private void awaitRequests(int count) {
        await().atMost(Duration.ofSeconds(5)).until(() -> sqs.requests().size() >= count);
    }

    private void awaitHandled(int count) {
        await().atMost(Duration.ofSeconds(5)).until(() -> handled.size() >= count);
    }

    @Test
    void messageIsReceivedHandledAndDeleted() {
        start(options -> {});
        awaitRequests(1);
        sqs.answer(0, messages("m", 2));

        await().atMost(Duration.ofSeconds(5)).until(() -> sqs.deletes().size() == 2);
        assertThat(handled).extracting(Message::getPayload).containsExactlyInAnyOrder("m0", "m1");
        awaitRequests(2);
    }

    /** Trap: while one handler is slow, Spring Cloud AWS waits up to 10 s for all permits of a full poll. */
    @Test
    void listenerPollsWithThePermitsThatAreFreeWhileAHandlerIsSlow() {
        start(options -> {});
        awaitRequests(1);
        sqs.answer(0, message("slow", "", 1));

        awaitHandled(1);
        awaitRequests(2);
        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(9);
        sqs.answer(1, message("next", "", 1));
        awaitHandled(2);
    }

    /**
     * Trap: Spring Cloud AWS misses the end of a poll that received all requested messages. An idle listener then waits
     * {@code maxDelayBetweenPolls} before it polls again.
     */
    @Test
    void listenerPollsWithThePermitsThatAreFreeAlthoughItsFirstPollHasBroughtAllItRequested() {
        start(options -> options.maxConcurrentMessages(20).maxDelayBetweenPolls(Duration.ofHours(1)));
        awaitRequests(1);
        sqs.answer(0, messages("slow", 10));

        awaitRequests(2);
        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(10);
    }

    /**
     * The listener has the default of ten concurrent messages. Nine handlers are slow, and the next poll receives
     * nothing.
     */
    @Test
    void listenerPollsWithThePermitsThatCameBackWhileItsOnlyPollHadOne() {
        start(options -> options.maxDelayBetweenPolls(Duration.ofHours(1)));
        awaitRequests(1);
        sqs.answer(0, messages("slow", 9));
        awaitRequests(2);
        assertThat(sqs.latest().maxNumberOfMessages()).isOne();
        sqs.answer(1);
        awaitRequests(3);

        mayEnd.complete(null);
        // Two handlers that end at the same time may share a delete request.
        await().atMost(Duration.ofSeconds(5))
                .until(() -> sqs.deletes().stream().mapToInt(List::size).sum() == 9);
        assertThat(sqs.requests())
                .as("one poll at a time where none brings anything")
                .hasSize(3);
        sqs.answer(2, message("later", "", 1));

        awaitRequests(4);
        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(9);
    }

    /**
     * Polls are answered, handlers end and permits are released in random order. Then the listener stops, in some runs
     * during a poll.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void neverAreMoreMessagesRequestedThanPermitsAllowAndAFreePermitIsPolledWith(long seed) {
        Random random = new Random(seed);
        int most = 10 + random.nextInt(15);
        Map<String, CompletableFuture<Void>> running = new ConcurrentHashMap<>();
        AtomicInteger ended = new AtomicInteger();
        worker = payload -> running.computeIfAbsent(payload, name -> new CompletableFuture<>());
        start(options -> options.maxConcurrentMessages(most)
                .maxDelayBetweenPolls(Duration.ofHours(1))
                .backPressureMode(
                        random.nextBoolean() ? BackPressureMode.AUTO : BackPressureMode.FIXED_HIGH_THROUGHPUT));
        int arrived = 0;
        for (int step = 0; step < 12; step++) {
            int free = most - arrived + ended.get();
            if (free > 0) {
                await().atMost(Duration.ofSeconds(5)).until(() -> asked() > 0);
                List<Integer> waiting = sqs.waiting();
                int poll = waiting.get(random.nextInt(waiting.size()));
                int brought = random.nextInt(1 + sqs.requests().get(poll).maxNumberOfMessages());
                sqs.answer(poll, messages("step" + step + "-", brought));
                arrived += brought;
                awaitHandled(arrived);
            }
            for (String name : List.copyOf(running.keySet())) {
                if (random.nextInt(3) == 0) {
                    CompletableFuture<Void> work = running.remove(name);
                    ended.incrementAndGet();
                    work.complete(null);
                }
            }
            assertThat(asked() + running.size()).isLessThanOrEqualTo(most);
        }
        running.values().forEach(work -> work.complete(null));
        container.stop();
        int sent = sqs.requests().size();
        await().during(Duration.ofMillis(150)).until(() -> sqs.requests().size() == sent);
    }

    private int asked() {
        return sqs.waiting().stream()
                .mapToInt(poll -> sqs.requests().get(poll).maxNumberOfMessages())
                .sum();
    }

    /**
     * Thousands of messages that end together release permits for hundreds of polls, but the SDK's client has only 50
     * connections.
     */
    @Test
    void noMoreThanTenPollsWaitForMessagesHoweverManyPermitsThereAre() {
        start(options -> options.maxConcurrentMessages(1_000).backPressureMode(BackPressureMode.FIXED_HIGH_THROUGHPUT));
        awaitRequests(10);
        await().during(Duration.ofMillis(200)).until(() -> sqs.requests().size() == 10);

        sqs.fail(4);
        awaitRequests(11);
        sqs.answer(5);
        awaitRequests(12);
    }

    @Test
    void nothingIsPolledWhileTheGateIsClosedAndNoPermitIsKept() {
        CircuitBreaker breaker = engine.breakers().of(null);
        start(options -> {});
        awaitRequests(1);
        for (int lost = 0; lost < 3; lost++) {
            breaker.unanswered(new IllegalStateException("connection refused"));
        }
        sqs.answer(0);
        await().during(Duration.ofMillis(200)).until(() -> sqs.requests().size() == 1);

        breaker.answered();
        awaitRequests(2);
        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(10);
    }

    /** A crash would repeat the effects of all messages whose outcomes are not recorded. */
    @Test
    void nothingIsPolledWhileAsManyOutcomesAsItMayHandleAreNotOnRecord() {
        Queue<Runnable> asked = new ConcurrentLinkedQueue<>();
        AtomicBoolean isHeld = new AtomicBoolean();
        engine = ListenerRig.engine(deliveries, store, task -> {
            if (isHeld.get()) {
                asked.add(task);
            } else {
                task.run();
            }
        });
        start(options -> options.maxConcurrentMessages(2).maxMessagesPerPoll(2));
        awaitRequests(1);
        sqs.answer(0, messages("slow", 2));
        awaitHandled(2);
        isHeld.set(true);
        mayEnd.complete(null);
        // The handlers ended and released their permits, so the second poll sends its request.
        awaitRequests(2);
        assertThat(asked).hasSize(2);
        sqs.answer(1);
        await().during(Duration.ofMillis(200)).until(() -> sqs.requests().size() == 2);

        isHeld.set(false);
        asked.forEach(Runnable::run);

        awaitRequests(3);
    }

    /**
     * Trap: in a real outage, four of five listeners stopped polling, because the code that logged the crash also
     * crashed.
     */
    @Test
    void listenerPollsWithAllPermitsAfterItsPollsAndTheirReportsCrashed() {
        Logger logger = (Logger) LoggerFactory.getLogger(Boundary.class);
        AppenderBase<ILoggingEvent> full = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                throw new OutOfMemoryError("no line either");
            }
        };
        full.start();
        logger.addAppender(full);
        AtomicInteger crashes = new AtomicInteger();
        try {
            start(options -> options.pollBackOffPolicy(new BackOffPolicy() {
                @Override
                public BackOffContext start(RetryContext unused) {
                    return new BackOffContext() {};
                }

                @Override
                public void backOff(BackOffContext context) {
                    if (crashes.incrementAndGet() <= 5) {
                        throw new OutOfMemoryError("used up");
                    }
                }
            }));
            awaitRequests(1);
            sqs.fail(0);
            awaitRequests(2);
        } finally {
            logger.detachAppender(full);
        }

        assertThat(crashes).hasValue(6);
        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(10);
        sqs.answer(1, message("m", "", 1));
        awaitHandled(1);
    }

    /**
     * If memory runs out before a received message is claimed, the message is abandoned until its visibility timeout
     * ends. Its permit is released.
     */
    @Test
    void crashWhileMessagesAreTakenOverReturnsTheirPermits() {
        AtomicInteger crashes = new AtomicInteger();
        engine = ListenerRig.engine(deliveries, store, task -> {
            if (crashes.getAndIncrement() < 3) {
                throw new OutOfMemoryError("used up");
            }
            task.run();
        });
        start(options -> {});
        awaitRequests(1);
        sqs.answer(0, messages("crashed", 3));
        awaitRequests(2);
        sqs.answer(1);
        awaitRequests(3);

        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(10);
        assertThat(renewer.renewedCount()).as("they are abandoned").isZero();
        sqs.answer(2, message("m", "", 1));
        awaitHandled(1);
        assertThat(handled).extracting(Message::getPayload).containsExactly("m");
    }

    /**
     * The application's executor runs the poll on a shared thread. An interrupt may be meant for other work of that
     * thread.
     */
    @Test
    void interruptThatIsNoStopEndsNoPolling() {
        AtomicReference<Thread> poller = new AtomicReference<>();
        start(options -> options.pollBackOffPolicy(new BackOffPolicy() {
            @Override
            public BackOffContext start(RetryContext unused) {
                return new BackOffContext() {};
            }

            @Override
            public void backOff(BackOffContext context) {
                poller.set(Thread.currentThread());
                Thread.currentThread().interrupt();
            }
        }));
        awaitRequests(1);
        sqs.fail(0);
        awaitRequests(2);
        sqs.answer(1, message("m", "", 1));

        awaitHandled(1);
        awaitRequests(3);
        assertThat(poller.get().isAlive()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void pollThatFailsIsFollowedByOneThatBacksOff(boolean keepsState, CapturedOutput output) {
        AtomicInteger pauses = new AtomicInteger();
        BackOffPolicy policy = new BackOffPolicy() {
            @Override
            public @Nullable BackOffContext start(RetryContext unused) {
                return keepsState ? new BackOffContext() {} : null;
            }

            @Override
            public void backOff(BackOffContext context) {
                pauses.incrementAndGet();
            }
        };
        start(options -> options.pollBackOffPolicy(policy));
        awaitRequests(1);
        sqs.fail(0);
        awaitRequests(2);
        assertThat(pauses).hasValue(1);
        assertThat(output)
                .contains(
                        "Polling listener 'listener' on queue 'orders' failed; polling continues", "connection reset");

        sqs.answer(1);
        awaitRequests(3);
        assertThat(pauses).hasValue(1);
    }

    /** A server other than AWS may use message ids that are not UUIDs. */
    @Test
    void idThatIsNoUuidIsReadIfTheContainerAllowsIt() {
        start(options -> options.convertMessageIdToUuid(false));
        awaitRequests(1);
        sqs.answer(0, message("m", "", 1).toBuilder().messageId("id-1").build());

        awaitHandled(1);
        assertThat(handled.get(0).getHeaders().getId()).isEqualTo(UUID.nameUUIDFromBytes("id-1".getBytes()));
    }

    @Test
    void messagesThatArriveAfterTheListenerHasStoppedAreVisibleAtOnce(CapturedOutput output) {
        start(options -> {});
        awaitRequests(1);
        container.stop();
        assertThat(output).contains("is stopping, and has handlers or polls that have not ended after");

        sqs.answer(0, message("m", "", 3));

        assertThat(handled).isEmpty();
        assertThat(sqs.takeChanges()).containsEntry("m", 0);
        assertThat(renewer.renewedCount()).isZero();
    }

    @Test
    void stopSendsTheDeletesThatWaitForMore() {
        ((FakeTimer) engine.scheduler()).hold();
        start(options -> options.acknowledgementThreshold(100));
        awaitRequests(1);
        sqs.answer(0, message("m", "", 1));
        awaitHandled(1);
        assertThat(sqs.deletes()).isEmpty();

        container.stop();

        assertThat(sqs.deletes()).containsExactly(List.of("m"));
    }

    /** A stop waits two seconds for an interrupted handler, so this test takes two seconds. */
    @Test
    void messageWhoseHandlerOutlivesTheStopIsRenewedNoMore() {
        worker = payload -> new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterrupt) {
                return false;
            }
        };
        start(options -> {});
        awaitRequests(1);
        sqs.answer(0, message("m", "", 1));
        awaitHandled(1);
        assertThat(renewer.renewedCount()).isOne();

        container.stop();

        assertThat(renewer.renewedCount()).isZero();
    }

    /** Stops the container on the thread of the container's own handler. Meanwhile, another thread ends the polls. */
    private void stopFromHandler() {
        AtomicBoolean hasStopped = new AtomicBoolean();
        CompletableFuture<Void> polls = CompletableFuture.runAsync(() -> await().until(() -> {
            sqs.waiting().forEach(poll -> sqs.answer(poll));
            return hasStopped.get();
        }));
        container.stop();
        hasStopped.set(true);
        polls.join();
    }

    @Test
    void interceptorThatHangsIsInterruptedWhenItsListenerStops() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch wasInterrupted = new CountDownLatch(1);
        start(options -> options.listenerShutdownTimeout(Duration.ofMillis(100)), () -> {
            started.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stopped) {
                wasInterrupted.countDown();
            }
        });
        awaitRequests(1);
        sqs.answer(0, message("m", "", 1));
        assertThat(started.await(5, TimeUnit.SECONDS)).isTrue();

        stopFromHandler();

        assertThat(wasInterrupted.await(5, TimeUnit.SECONDS)).isTrue();
    }

    /**
     * The handler's failure is recorded, as after a stop by another thread. The key must not be in doubt, because the
     * policy PARK would then park the key.
     */
    @Test
    void handlerThatStopsItsListenerIsNeitherAwaitedNorInterruptedNorInDoubt() {
        CountDownLatch hasStopped = new CountDownLatch(1);
        CountDownLatch otherStarted = new CountDownLatch(1);
        AtomicBoolean wasInterrupted = new AtomicBoolean();
        action = payload -> {
            if (payload.equals("stopping")) {
                otherStarted.await();
                long start = System.nanoTime();
                stopFromHandler();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
                hasStopped.countDown();
                throw new IllegalStateException("the configuration is wrong");
            }
            otherStarted.countDown();
            wasInterrupted.set(!hasStopped.await(200, TimeUnit.MILLISECONDS) && Thread.interrupted());
        };
        start(options -> options.listenerShutdownTimeout(Duration.ofSeconds(20)));
        awaitRequests(1);
        sqs.answer(0, message("stopping", "", 1), message("other", "", 1));

        await().atMost(Duration.ofSeconds(10)).until(() -> store.releases().size() == 1);
        assertThat(store.releases().get(0).inDoubt()).isFalse();
        assertThat(store.releases().get(0).error()).contains("the configuration is wrong");
        assertThat(store.parkings()).isEmpty();
        assertThat(wasInterrupted).isFalse();
        await().atMost(Duration.ofSeconds(5)).until(() -> renewer.renewedCount() == 0);
        assertThat(sqs.takeChanges()).containsKey("stopping");
        assertThat(sqs.deletes()).containsExactly(List.of("other"));
    }

    @Test
    void handlerThatSucceedsAfterItHasStoppedItsListenerIsDeleted() {
        action = payload -> {
            stopFromHandler();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        };
        start(options -> options.listenerShutdownTimeout(Duration.ofSeconds(20)));
        awaitRequests(1);
        sqs.answer(0, message("m", "", 1));

        await().atMost(Duration.ofSeconds(10)).until(() -> sqs.deletes().size() == 1);
        assertThat(store.completions()).hasSize(1);
        await().atMost(Duration.ofSeconds(5)).until(() -> renewer.renewedCount() == 0);
    }

    /** Two handlers detect at the same time that the database is unavailable, and both stop the listener. */
    @Test
    void handlersThatStopTheirListenerTogetherWaitForNoneOfThem() {
        CyclicBarrier both = new CyclicBarrier(2);
        action = payload -> {
            both.await(10, TimeUnit.SECONDS);
            stopFromHandler();
        };
        start(options -> options.listenerShutdownTimeout(Duration.ofSeconds(20)));
        awaitRequests(1);
        sqs.answer(0, message("m", "", 1), message("n", "", 1));

        await().atMost(Duration.ofSeconds(10)).until(() -> store.completions().size() == 2);
    }

    @Test
    void nothingIsPolledBeforeClaimsAreKnownToBeKept() {
        engine = ListenerRig.engine(deliveries, store, Runnable::run, () -> {}, () -> {
            throw new InvalidListenerException("no table", "make one");
        });

        assertThatThrownBy(() -> start(options -> {})).hasRootCauseInstanceOf(InvalidListenerException.class);

        assertThat(sqs.requests()).isEmpty();
    }
}
