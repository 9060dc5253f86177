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
 * Processes a queue's messages from their arrival: they are renewed, claimed, passed to handlers, recorded, and then
 * deleted, in this order. If keys are claimed ahead, one call claims all keys of a poll before there are threads, and
 * only messages that acquire their keys take threads. A message leaves, and releases its permit, when its handler has
 * ended. Only the next message of its group waits until the outcome is recorded and applied.
 *
 * <p>The first message of a group that stays in the queue, for any reason, stops the rest of the group: the rest is
 * made visible again at once. SQS delivers no message of a group while another one is in flight, so the order is kept
 * however long the stopped message stays invisible.
 *
 * <p>A message that failed on its last receive does not stay: its queue moves it to the dead-letter queue. The rest of
 * its group was received as often, and would follow it there if it did not continue now. The redrive policy may have
 * changed, so it is first read again. If that fails, the rest is stopped, because order has priority.
 */
@SuppressWarnings("FutureReturnValueIgnored") // The futures of run and settle never fail.
final class Dispatcher {

    /** Names the entry for threads of Spring Cloud AWS, the SDK, the store and the timer. */
    private static final String ENTRY = "Handling messages";

    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);

    private static final CompletableFuture<Void> READY = CompletableFuture.completedFuture(null);

    private static final String AWSPRING = "io.awspring.cloud.sqs.";

    /** The time between two checks for handlers that wait for the stop. */
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
     * @param permits each message has one when it arrives
     * @param threads hands messages to the container's executor if that executor may block or run tasks on the
     *     calling thread, because threads of the store and the SDK must never run a handler
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
        // Each message of a group depends on the one before it.
        claimsAhead = settings.claimsAhead() && !isFifo;
        groupsApart = isFifo
                && (!isBatch
                        || options.getFifoBatchGroupingStrategy()
                                == FifoBatchGroupingStrategy.PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES);
        int most = options.getMaxConcurrentMessages();
        int ahead = claimsAhead ? options.getMaxMessagesPerPoll() : 0;
        prefetch = new PrefetchLimiter<>(most, Permits.hasBackPressureOfSpringCloudAws(options) ? ahead : 0, engine.scheduler());
        records = new Counter(queue.subscription().levels().recording());
        mostRecords = most + ahead;
    }

    /**
     * Waits until outcomes are recorded as fast as handlers end: at most as many outcomes may be unrecorded as messages
     * may be in flight. A crash would repeat the effects of all unrecorded outcomes.
     */
    boolean awaitCapacity(Duration longest) throws InterruptedException {
        // A message may have left, and then its thread crashed before it made this call.
        prefetch.proceed();
        return records.awaitAtMost(mostRecords - 1, longest) && deleter.awaitRoom(longest);
    }

    /** Takes polled messages. Each holds a permit. */
    void arrived(List<ReceivedMessage> messages) {
        if (messages.isEmpty()) {
            return;
        }
        Runnable taking = () -> {
            // The next poll does not wait until these messages are handled.
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
     * Returns whether the message will not be redelivered, because it is deleted or was on its last receive. False if
     * that is unknown.
     */
    private CompletableFuture<Boolean> isGone(Delivery head) {
        boolean seemsGone = head.leavesItsQueue();
        return !seemsGone || head.isAcknowledged()
                ? CompletableFuture.completedFuture(seemsGone)
                : queue.isFinalReceive(head.receiveCount());
    }

    /**
     * Calls the handler when its messages may be handled, and a thread is free.
     *
     * @return a future that never fails; completes when the messages' outcomes are recorded and applied, or the
     *     messages were abandoned
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

    /** Without backoff, a message that the pipeline always drops would be redelivered immediately, forever. */
    private boolean isToBeDeleted(Delivery delivery) {
        return isOver
                ? engine.deliveries().settleWhileStopping(delivery)
                : engine.deliveries().settle(delivery);
    }

    /**
     * Settles messages that leave: their handlers have ended, an interceptor dropped them, or there is no thread or
     * claim for them. Releases claims that did not reach their handler. Each message is settled as soon as its outcome
     * is recorded.
     *
     * @param settling applies the decision on a delivery; returns whether its message is to be deleted
     * @return a future that never fails; completes when all are settled, or the messages were abandoned
     */
    private CompletableFuture<Void> settle(List<ReceivedMessage> messages, Predicate<Delivery> settling) {
        // The messages are counted before their permits are released, because a stopping listener waits for the
        // permits, and then for the count.
        records.add(messages.size());
        return Boundary.endChain(
                ENTRY,
                READY.thenCompose(now -> leave(messages)).thenAccept(recorded -> settled(messages, settling)),
                crash -> {
                    abandon(messages);
                    records.add(-messages.size());
                });
    }

    /** Lets messages leave. The future completes when their outcomes are recorded. */
    private CompletableFuture<Void> leave(List<ReceivedMessage> messages) {
        engine.pipeline().releaseUnhandled(deliveries(messages));
        if (!deleter.passesMessagesOn()) {
            // The messages may wait long for the store, and for their deletes, so their content is dropped.
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

    /** Lets a message leave, and releases its permit, once. */
    private void free(ReceivedMessage message) {
        if (prefetch.onFinished(message)) {
            permits.release(1, ReleaseReason.PROCESSED);
        }
        prefetch.proceed();
    }

    /** Abandons messages after a crash of their thread. The thread does not end, and no permit is lost. */
    private void abandon(List<ReceivedMessage> inHand) {
        engine.deliveries().abandon(deliveries(inHand));
        inHand.forEach(this::free);
    }

    /**
     * Waits until no message is in flight, polls are answered, and outcomes are recorded. Returns false on timeout. A
     * message whose handler waits for this stop does not count, because neither could end before the other.
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
     * Stops waiting for handlers that have called this stop. Their outcomes are recorded and settled when they end by
     * themselves.
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
     * Returns whether a handler has called a stop. Only its stack shows that, because Spring Cloud AWS stops containers
     * on its own threads.
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

    /** Called when handlers are no longer awaited. */
    void end() {
        isOver = true;
    }

    boolean isOver() {
        return isOver;
    }
}
