package io.exactlyonce.listener.container;

import static io.exactlyonce.listener.message.ReceivedMessage.deliveries;

import io.awspring.cloud.sqs.listener.FifoBatchGroupingStrategy;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler.ReleaseReason;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.support.AbstractApplicationContext;

/**
 * Processes received messages: claims their keys, calls handlers, records the outcomes, and deletes the messages. On a
 * standard queue, one call of the claim store usually claims the keys of a whole poll. Duplicates are found by this
 * call, so they need no thread.
 *
 * <p>When a handler ends, the permit of its message is released, so that another message can be polled. On a FIFO
 * queue, the group's next message must wait longer: until the outcome is recorded, and the first message is returned to
 * the queue or passed to the deleter.
 *
 * <p>If SQS will redeliver a message of a FIFO group, the later messages of its group are not handled. They are made
 * visible again at once, and SQS delivers them after the first message. So the order is kept.
 *
 * <p>A message that failed on its last receive is not redelivered, because SQS moves it to the dead-letter queue. So
 * the later messages of its group are handled. If they were returned instead, SQS would move them to the dead-letter
 * queue, too, because they were received as often as the failed message. Before this decision, the redrive policy is
 * read again, because it may have changed. If the policy cannot be read, the later messages are returned, so that the
 * order is kept.
 */
@SuppressWarnings("FutureReturnValueIgnored") // The futures of run and settle never fail.
final class Dispatcher {

    private static final String ENTRY = "Handling messages";

    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);

    private static final CompletableFuture<Void> READY = CompletableFuture.completedFuture(null);

    private static final String AWSPRING = "io.awspring.cloud.sqs.";

    /**
     * A stop waits for running handlers. At this interval, it checks whether one of them has called the stop itself.
     * Such a handler waits for the stop, so the stop must not wait for it.
     */
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final ListenerEngine engine;
    private final QueueWatch queue;
    private final Permits permits;
    private final HandlerSink sink;
    private final MessageDeleter deleter;
    private final Executor threads;
    private final PrefetchLimiter<ReceivedMessage> prefetch;
    private final Counter records;
    private final boolean isBatch;
    private final boolean groupsApart;
    private final boolean claimsAhead;
    private final int mostRecords;
    private volatile boolean isOver;

    /**
     * @param threads used if the application has configured its own executor. That executor may block the thread that
     *     submits a handler, or run the handler on it. So handlers are submitted on these threads, and not on a thread
     *     of the claim store or the SDK
     */
    Dispatcher(
            ListenerEngine engine,
            ContainerSettings settings,
            SqsContainerOptions options,
            QueueWatch queue,
            Permits permits,
            HandlerSink sink,
            MessageDeleter deleter,
            Executor threads) {
        this.engine = engine;
        this.queue = queue;
        this.permits = permits;
        this.sink = sink;
        this.deleter = deleter;
        this.threads = settings.hasOwnExecutor() ? threads : Runnable::run;
        isBatch = settings.listener().isBatch();
        boolean isFifo = queue.subscription().isFifo();
        // Keys of a FIFO queue are not claimed ahead, because each message must wait for the earlier message of its
        // group.
        claimsAhead = settings.claimsAhead() && !isFifo;
        groupsApart = isFifo
                && (!isBatch
                        || options.getFifoBatchGroupingStrategy()
                                == FifoBatchGroupingStrategy.PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES);
        int most = options.getMaxConcurrentMessages();
        int ahead = claimsAhead ? options.getMaxMessagesPerPoll() : 0;
        prefetch = new PrefetchLimiter<>(
                most, Permits.hasBackPressureOfSpringCloudAws(options) ? ahead : 0, engine.scheduler());
        records = new Counter(queue.subscription().levels().recording());
        mostRecords = most + ahead;
    }

    /**
     * Waits until the next poll may be sent. Returns false on timeout. Polling waits while the outcomes of many
     * messages are not recorded yet, because after a crash all these messages would be handled again. Polling also
     * waits while many messages are not deleted yet.
     */
    boolean awaitCapacity(Duration longest) throws InterruptedException {
        // A handler that ends usually starts the next handler. If a crash prevented this, the next handler is started
        // here.
        prefetch.proceed();
        return records.awaitAtMost(mostRecords - 1, longest) && deleter.awaitRoom(longest);
    }

    /** Processes the messages of a poll. Each of them holds a permit. */
    void arrived(List<ReceivedMessage> messages) {
        if (messages.isEmpty()) {
            return;
        }
        Runnable taking = () -> {
            // Some permits are released now, and not when the handlers end, so that the next poll can be sent already.
            permits.release(prefetch.onReceived(messages), ReleaseReason.PROCESSED);
            engine.deliveries().begin(deliveries(messages));
            for (ReceivedMessage message : messages) {
                message.delivery().deleteBy(() -> deleter.delete(List.of(message)));
            }
            if (claimsAhead) {
                claimAhead(messages);
            } else {
                dispatch(messages);
            }
        };
        Boundary.guard(ENTRY, taking, crash -> abandon(messages));
    }

    private void claimAhead(List<ReceivedMessage> messages) {
        Boundary.endChain(
                ENTRY,
                engine.pipeline().claim(deliveries(messages)).thenRun(() -> dispatchClaimed(messages)),
                crash -> abandon(messages));
    }

    private void dispatchClaimed(List<ReceivedMessage> messages) {
        List<Delivery> held = engine.pipeline().admit(deliveries(messages));
        List<ReceivedMessage> claimed = messages.stream()
                .filter(message -> held.contains(message.delivery()))
                .toList();
        List<ReceivedMessage> rest = new ArrayList<>(messages);
        rest.removeAll(claimed);
        settle(rest, this::isToBeDeleted);
        dispatch(claimed);
    }

    private void dispatch(List<ReceivedMessage> messages) {
        if (messages.isEmpty()) {
            return;
        }
        if (groupsApart) {
            messages.stream()
                    .collect(Collectors.groupingBy(ReceivedMessage::group, LinkedHashMap::new, Collectors.toList()))
                    .values()
                    .forEach(isBatch ? this::run : this::runInOrder);
        } else if (isBatch) {
            run(messages);
        } else {
            messages.forEach(message -> run(List.of(message)));
        }
    }

    private void runInOrder(List<ReceivedMessage> group) {
        List<ReceivedMessage> rest = group.subList(1, group.size());
        CompletableFuture<Void> settled = run(group.subList(0, 1));
        if (!rest.isEmpty()) {
            Boundary.whenComplete(
                    ENTRY,
                    settled.thenCompose(head -> isGone(group.get(0).delivery())),
                    (isGone, failure) -> {
                        if (Boolean.TRUE.equals(isGone)) {
                            runInOrder(rest);
                        } else {
                            settle(rest, engine.deliveries()::settleWhileStopping);
                        }
                    },
                    crash -> abandon(rest));
        }
    }

    /**
     * Returns whether SQS will never deliver a message again: either it is deleted, or this was its last receive.
     * Returns false if the redrive policy cannot be read, because then the last receive is not known.
     */
    private CompletableFuture<Boolean> isGone(Delivery head) {
        boolean seemsGone = head.leavesItsQueue();
        return !seemsGone || head.isAcknowledged()
                ? CompletableFuture.completedFuture(seemsGone)
                : queue.isFinalReceive(head.receiveCount());
    }

    /**
     * Calls the handler of these messages as soon as it may start and a thread is free.
     *
     * @return a future that never fails. It completes when the outcomes are recorded, and each message is returned to
     *     the queue or passed to the deleter. It also completes after a crash
     */
    private CompletableFuture<Void> run(List<ReceivedMessage> messages) {
        CompletableFuture<Void> turn = new CompletableFuture<>();
        CompletableFuture<Void> settled = Boundary.endChain(
                ENTRY,
                turn.thenComposeAsync(now -> sink.run(messages, isBatch), threads)
                        .thenCompose(ended -> settle(messages, this::isToBeDeleted)),
                crash -> abandon(messages));
        prefetch.execute(messages, () -> turn.complete(null));
        return settled;
    }

    /**
     * Applies the outcome of a delivery, and returns whether its message is to be deleted. If there is no outcome, for
     * example because an interceptor has dropped the message, the message is returned with backoff. After {@link #end},
     * such a message is returned at once.
     */
    private boolean isToBeDeleted(Delivery delivery) {
        return isOver
                ? engine.deliveries().settleWhileStopping(delivery)
                : engine.deliveries().settle(delivery);
    }

    /**
     * Finishes the processing of messages. Claims are released if the handler was not called. When all outcomes are
     * recorded, each message is returned to the queue or passed to the deleter.
     *
     * @param settling applies the outcome of a delivery, and returns whether its message is to be deleted
     * @return a future that never fails. It completes when the messages are returned or passed to the deleter, or when
     *     this method's own work has failed
     */
    private CompletableFuture<Void> settle(List<ReceivedMessage> messages, Predicate<Delivery> settling) {
        // A stopping listener first waits until all permits are released, and then until {@link #records} has counted
        // the end of each message. So messages are added to this count before their permits are released.
        records.add(messages.size());
        return Boundary.endChain(
                ENTRY,
                READY.thenCompose(now -> leave(messages)).thenAccept(recorded -> settled(messages, settling)),
                crash -> {
                    abandon(messages);
                    records.add(-messages.size());
                });
    }

    /**
     * Releases the permits of messages. The returned future completes when the outcomes of the messages are recorded.
     */
    private CompletableFuture<Void> leave(List<ReceivedMessage> messages) {
        engine.pipeline().releaseUnhandled(deliveries(messages));
        if (!deleter.passesMessagesOn()) {
            // Messages may wait long for the claim store and for their deletes. So their content is dropped to save
            // memory, unless a callback of the application needs it.
            messages.forEach(message -> message.delivery().attempt().forgetContent());
        }
        messages.forEach(this::free);
        return messages.size() == 1
                ? messages.get(0).delivery().processed()
                : CompletableFuture.allOf(messages.stream()
                        .map(message -> message.delivery().processed())
                        .toArray(CompletableFuture[]::new));
    }

    private void settled(List<ReceivedMessage> messages, Predicate<Delivery> settling) {
        deleter.delete(messages.stream()
                .filter(message -> settling.test(message.delivery()))
                .toList());
        records.add(-messages.size());
    }

    /**
     * Releases a message's permit if it was not released before. Also starts the next handlers. May be called twice for
     * a message.
     */
    private void free(ReceivedMessage message) {
        if (prefetch.onFinished(message)) {
            permits.release(1, ReleaseReason.PROCESSED);
        }
        prefetch.proceed();
    }

    /** Abandons messages because their processing has crashed, and releases their permits. */
    private void abandon(List<ReceivedMessage> inHand) {
        engine.deliveries().abandon(deliveries(inHand));
        inHand.forEach(this::free);
    }

    /**
     * Waits until no message is in flight, all polls are answered, and all outcomes are recorded. Returns false on
     * timeout. If a handler has called this stop, its message is not awaited, because the handler and the stop would
     * wait for each other.
     */
    boolean awaitEnd(Duration timeout) throws InterruptedException {
        for (Duration left = timeout; ; left = left.minus(BETWEEN_LOOKS)) {
            leaveCallersOfTheStop();
            boolean isLast = left.compareTo(BETWEEN_LOOKS) <= 0;
            boolean hasEnded = drain(isLast ? left : BETWEEN_LOOKS);
            if (hasEnded || isLast) {
                return hasEnded;
            }
        }
    }

    /**
     * Stops waiting for messages whose handlers have called this stop. The outcome of such a handler is still recorded
     * when it ends, and its message is then deleted or returned.
     */
    private void leaveCallersOfTheStop() {
        for (ReceivedMessage message : prefetch.unfinished()) {
            if (isStopping(message.delivery())) {
                log.info("{} is not awaited by the stop of its listener, which its own handler has called", message);
                message.delivery().outliveStop();
                sink.keepThreads();
                free(message);
            }
        }
    }

    /**
     * Returns whether a handler has called the stop of a container, or has closed the application context. The stop
     * itself runs on another thread. So this method searches the stack of the handler's thread for the call.
     */
    private static boolean isStopping(Delivery delivery) {
        if (!delivery.wasCalled()) {
            return false;
        }
        for (StackTraceElement frame : delivery.call().stack()) {
            String type = frame.getClassName();
            if ((type.startsWith(AWSPRING) && frame.getMethodName().equals("stop"))
                    || (type.equals(AbstractApplicationContext.class.getName())
                            && frame.getMethodName().equals("close"))) {
                return true;
            }
        }
        return false;
    }

    private boolean drain(Duration timeout) throws InterruptedException {
        long end = engine.scheduler().nanoTime() + timeout.toNanos();
        return prefetch.drain(timeout)
                && permits.drain(
                        Duration.ofNanos(Math.max(0, end - engine.scheduler().nanoTime())))
                && records.awaitAtMost(
                        0, Duration.ofNanos(end - engine.scheduler().nanoTime()));
    }

    /** Called when the stop no longer waits for handlers. */
    void end() {
        isOver = true;
    }

    boolean isOver() {
        return isOver;
    }
}
