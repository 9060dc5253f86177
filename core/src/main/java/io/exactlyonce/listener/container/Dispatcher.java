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
 * Processes a queue's messages after their arrival. Messages are renewed, claimed, passed to handlers, recorded, and
 * then deleted, in this order. If keys are claimed ahead, one call claims all keys of a poll before handlers get
 * threads, and only messages whose keys were acquired take threads.
 *
 * <p>A message <em>leaves</em> when its handler has ended: its permit is released, so that another message can be
 * polled. On a FIFO queue, the next message of the same group is handled only after the outcome is recorded and
 * applied.
 *
 * <p>If a message of a group stays in the queue, for any reason, later messages of the group from the same poll are not
 * handled, but made visible again at once. SQS delivers no message of a group while another message of the group is in
 * flight. So the order is kept even if the first message stays invisible for long.
 *
 * <p>A message that failed on its last receive does not stay, because SQS moves it to the dead-letter queue, and the
 * rest of the group continues. The rest was received as often as the failed message, so if it were returned, SQS would
 * also move it to the dead-letter queue. Before the group continues, the redrive policy is read again, because it may
 * have changed. If the policy cannot be read, the rest is returned, because order has priority.
 */
@SuppressWarnings("FutureReturnValueIgnored") // The futures of run and settle never fail.
final class Dispatcher {

    /** The name, in the log, of work on threads of Spring Cloud AWS, the SDK, the claim store and the timer. */
    private static final String ENTRY = "Handling messages";

    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);

    private static final CompletableFuture<Void> READY = CompletableFuture.completedFuture(null);

    private static final String AWSPRING = "io.awspring.cloud.sqs.";

    /**
     * The pause between two checks whether a handler has called the stop that waits for it. Such a handler would wait
     * for itself.
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
     * @param permits the permits to poll; each message holds one when it arrives
     * @param threads pass messages to the container's executor. They are used only if the application has configured
     *     that executor, because such an executor may block its caller or run tasks on the calling thread. The calling
     *     thread may belong to the store or the SDK, and must never run a handler
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
        // No key of a FIFO queue is claimed ahead, because each message of a group depends on the message before it.
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
     * Waits until the next poll may be sent. The number of unrecorded outcomes must be less than the number of messages
     * that may be in flight, because a crash would repeat the effects of all unrecorded outcomes. The deleter must also
     * accept more messages. Returns false on timeout.
     */
    boolean awaitCapacity(Duration longest) throws InterruptedException {
        // If a thread crashed after its message had left, the handlers that waited for that message start here.
        prefetch.proceed();
        return records.awaitAtMost(mostRecords - 1, longest) && deleter.awaitRoom(longest);
    }

    /** Takes polled messages, each of which holds a permit. */
    void arrived(List<ReceivedMessage> messages) {
        if (messages.isEmpty()) {
            return;
        }
        Runnable taking = () -> {
            // Permits that are released here let the next poll start before these messages are handled.
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
     * Returns whether the message will never be redelivered, because it is deleted or was on its last receive. Returns
     * false if the redrive policy, which decides on the last receive, cannot be read.
     */
    private CompletableFuture<Boolean> isGone(Delivery head) {
        boolean seemsGone = head.leavesItsQueue();
        return !seemsGone || head.isAcknowledged()
                ? CompletableFuture.completedFuture(seemsGone)
                : queue.isFinalReceive(head.receiveCount());
    }

    /**
     * Calls the handler as soon as its messages may be handled and a thread is free.
     *
     * @return a future that never fails. It completes when the messages' outcomes are recorded and applied, or when the
     *     messages are abandoned
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
     * Settles a delivery, and returns whether its message is to be deleted. As long as the listener runs or its stop
     * waits for handlers, a delivery without a decision is returned with backoff. Without backoff, a message that an
     * interceptor always drops would be redelivered immediately, forever.
     */
    private boolean isToBeDeleted(Delivery delivery) {
        return isOver
                ? engine.deliveries().settleWhileStopping(delivery)
                : engine.deliveries().settle(delivery);
    }

    /**
     * Settles messages that leave: their handlers have ended, an interceptor has dropped them, or there is no thread or
     * claim for them. If a handler was not called, its claim is released. The messages are settled together, as soon as
     * the outcomes of all of them are recorded.
     *
     * @param settling applies the decision on a delivery; returns whether its message is to be deleted
     * @return a future that never fails. It completes when all messages are settled, or when the messages are abandoned
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

    /** Lets messages leave. The returned future completes when their outcomes are recorded. */
    private CompletableFuture<Void> leave(List<ReceivedMessage> messages) {
        engine.pipeline().releaseUnhandled(deliveries(messages));
        if (!deleter.passesMessagesOn()) {
            // Messages may wait long for the claim store and for their deletes. Their content is dropped, because only
            // a callback of the application needs it.
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
     * Lets a message leave, and releases its permit unless the permit was released early. May be called twice for a
     * message.
     */
    private void free(ReceivedMessage message) {
        if (prefetch.onFinished(message)) {
            permits.release(1, ReleaseReason.PROCESSED);
        }
        prefetch.proceed();
    }

    /**
     * Abandons messages whose processing has crashed, and releases their permits. The thread that processed them
     * continues.
     */
    private void abandon(List<ReceivedMessage> inHand) {
        engine.deliveries().abandon(deliveries(inHand));
        inHand.forEach(this::free);
    }

    /**
     * Waits until no message is in flight, all polls are answered, and all outcomes are recorded. Returns false on
     * timeout. A message is not awaited if its handler has called this stop, because the handler and the stop would
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
     * Stops waiting for messages whose handlers have called this stop. When such a handler ends, its outcome is
     * recorded and its message is settled.
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
     * Returns whether a delivery's handler is inside a call that stops a container or closes the application context.
     * Only the stack of the handler's thread shows the call, because Spring Cloud AWS stops containers on threads of
     * its own.
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
