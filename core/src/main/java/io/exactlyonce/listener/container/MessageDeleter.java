package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.SqsAcknowledgementException;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.acknowledgement.AsyncAcknowledgementResultCallback;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.queue.QueueVisibility.Result;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.Message;

/**
 * Deletes messages, up to ten in a request. A request is sent as soon as the configured number of deletes is buffered,
 * and at the end of the configured interval, which is at most a second. Deletes are sent at once if the interval is
 * zero and no number is configured, which is the default for FIFO queues. Messages are renewed until the queue has
 * confirmed their deletes.
 *
 * <p>When the listener stops, this class sends the remaining deletes and waits for the answers, because the client may
 * be closed afterwards. Each message that is not deleted by then would be redelivered as a duplicate.
 *
 * <p>If a whole request fails, the SDK repeats it. If a request succeeds but its answer reports that some messages
 * could not be deleted, the SDK does not repeat their deletes, so this class sends them again, in up to three requests
 * in all. A delete that SQS rejects as invalid is not sent again. Without further requests, a message on its last
 * receive would end in the dead-letter queue although it was handled.
 *
 * <p>An application's callback gets each message once, together with the other messages of the same answer. The
 * callback does not get a duplicate that has waited for its key, because the content of the duplicate was dropped.
 */
public final class MessageDeleter {

    private static final String ENTRY = "Deleting messages";

    /**
     * The longest time for which a delete is buffered, whatever the container's options say. A buffered message is
     * renewed, and on a FIFO queue the rest of its group waits. Without this limit, a number that is never reached, or
     * a long interval, would hide the rest of the group for up to 12 hours.
     */
    public static final Duration LONGEST_BUFFERED = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(MessageDeleter.class);

    /** SQS's limit on the entries of one request. */
    private static final int MOST = 10;

    /** The most requests for one delete: as many as in the SDK's standard retry mode. */
    private static final int REQUESTS = 3;

    /**
     * If messages that wait for their deletes have more characters than this, all buffered deletes are sent at once,
     * and polling waits.
     */
    private static final int MUCH_KEPT = 1 << 20;

    /**
     * The number of characters that are added for each message, whatever its content. A listener stops polling at
     * 1,048,576 characters that wait for deletes, so at the latest with 8,192 messages.
     */
    private static final int LEAST_CHARACTERS = 128;

    /** The pause before the second request. The pause doubles before each further request. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Deliveries deliveries;
    private final SqsQueue queue;
    private final EngineScheduler scheduler;
    private final AsyncAcknowledgementResultCallback<Object> callback;
    private final Duration interval;
    private final int threshold;

    /**
     * Messages whose deletes are not sent yet. When the delete of a message is sent, the message leaves this list and
     * counts as {@link #sent} until the answer has been processed.
     */
    private final List<ReceivedMessage> buffered = new ArrayList<>();

    private final Counter sent = new Counter(new AtomicInteger());

    /**
     * The number of characters of messages that wait for their deletes. The content of a message is kept, and counts,
     * only if the application has a callback.
     */
    private final Counter kept = new Counter(new AtomicInteger());

    private final boolean passesMessagesOn;
    private boolean isTimed;
    private boolean isAtOnce;

    /**
     * @param options contain the number of deletes to buffer, and an interval, which is limited to {@link
     *     #LONGEST_BUFFERED}. By default no delete is buffered for a FIFO queue, because SQS delivers the next messages
     *     of a group only after the earlier messages are deleted
     * @param callback is notified of deletes
     */
    MessageDeleter(
            Deliveries deliveries,
            SqsQueue queue,
            EngineScheduler scheduler,
            SqsContainerOptions options,
            boolean isFifo,
            AsyncAcknowledgementResultCallback<Object> callback) {
        this.deliveries = deliveries;
        this.queue = queue;
        this.scheduler = scheduler;
        this.callback = callback;
        this.passesMessagesOn = isOverridden(callback, "onSuccess") || isOverridden(callback, "onFailure");
        Duration wanted = Objects.requireNonNullElse(
                options.getAcknowledgementInterval(), isFifo ? Duration.ZERO : LONGEST_BUFFERED);
        Integer most = options.getAcknowledgementThreshold();
        isAtOnce = wanted.isZero() && (most == null || most == 0);
        interval = wanted.isZero() || wanted.compareTo(LONGEST_BUFFERED) > 0 ? LONGEST_BUFFERED : wanted;
        threshold = Objects.requireNonNullElse(most, isFifo ? 0 : MOST);
    }

    /**
     * Returns whether a callback has its own implementation of a method. Otherwise the method is a default method of
     * Spring Cloud AWS, which does nothing.
     */
    private static boolean isOverridden(AsyncAcknowledgementResultCallback<Object> callback, String method) {
        return Stream.of(callback.getClass().getMethods())
                .anyMatch(each -> each.getName().equals(method) && !each.isDefault());
    }

    /**
     * Returns whether the application has a callback. If so, messages keep their content until the callback is called.
     */
    boolean passesMessagesOn() {
        return passesMessagesOn;
    }

    /**
     * Waits until messages that wait for their deletes have few enough characters for the next poll. Returns false on
     * timeout.
     */
    boolean awaitRoom(Duration longest) throws InterruptedException {
        return kept.awaitAtMost(MUCH_KEPT, longest);
    }

    private static int characters(List<ReceivedMessage> messages) {
        int characters = 0;
        for (ReceivedMessage message : messages) {
            characters += LEAST_CHARACTERS
                    + (message.isForgotten() ? 0 : message.polled().body().length());
        }
        return characters;
    }

    void delete(List<ReceivedMessage> messages) {
        boolean isFull;
        boolean isFirst;
        kept.add(characters(messages));
        synchronized (buffered) {
            buffered.addAll(messages);
            isFull = isAtOnce || (threshold > 0 && buffered.size() >= threshold) || kept.get() > MUCH_KEPT;
            isFirst = !isFull && !isTimed && !buffered.isEmpty();
            isTimed |= isFirst;
        }
        if (isFull) {
            send();
        } else if (isFirst) {
            sendLater();
        }
    }

    /**
     * Sends the buffered deletes after the interval. If the scheduler rejects the task, the next delete schedules it
     * again.
     */
    private void sendLater() {
        boolean isAccepted = false;
        try {
            scheduler.after(interval, () -> {
                endInterval();
                send();
            });
            isAccepted = true;
        } finally {
            if (!isAccepted) {
                endInterval();
            }
        }
    }

    private void endInterval() {
        synchronized (buffered) {
            isTimed = false;
        }
    }

    private void send() {
        List<ReceivedMessage> all;
        synchronized (buffered) {
            all = List.copyOf(buffered);
            buffered.clear();
            sent.add(all.size());
        }
        for (int from = 0; from < all.size(); from += MOST) {
            request(all.subList(from, Math.min(from + MOST, all.size())), 1);
        }
    }

    /**
     * Sends the remaining deletes, and waits for the queue's answers. From now on, each new delete is sent at once.
     * Deletes that other threads have buffered meanwhile are sent in a second round.
     */
    void flush(Duration timeout) {
        synchronized (buffered) {
            isAtOnce = true;
        }
        try {
            for (int round = 0; round < 2; round++) {
                send();
                if (!sent.awaitAtMost(0, timeout)) {
                    log.warn(
                            "{} deletes on {} are unanswered after {}; their messages may be redelivered as "
                                    + "duplicates",
                            sent.get(),
                            queue.queueUrl(),
                            timeout);
                    return;
                }
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    /** @param requests the number of requests for these messages so far, including this one */
    private void request(List<ReceivedMessage> messages, int requests) {
        guard(messages, () -> {
            CompletableFuture<Void> ready = CompletableFuture.allOf(messages.stream()
                    .map(message -> deliveries.acknowledging(message.delivery()))
                    .toArray(CompletableFuture[]::new));
            Boundary.whenComplete(
                    ENTRY,
                    ready.thenCompose(done -> queue.delete(messages.stream()
                            .map(message -> message.delivery().receiptHandle())
                            .toList())),
                    (answers, failure) -> answered(messages, requests, answers == null ? Map.of() : answers, failure),
                    crash -> abandon(messages));
        });
    }

    private void answered(
            List<ReceivedMessage> messages, int requests, Map<String, Result> answers, @Nullable Throwable failure) {
        if (failure != null) {
            log.warn(
                    "A request to delete {} messages on {} failed",
                    messages.size(),
                    queue.queueUrl(),
                    PrintableException.of(failure));
        }
        List<ReceivedMessage> deleted = new ArrayList<>();
        List<ReceivedMessage> again = new ArrayList<>();
        List<ReceivedMessage> kept = new ArrayList<>();
        for (ReceivedMessage message : messages) {
            Result answer = answers.get(message.delivery().receiptHandle());
            if (answer == Result.CHANGED) {
                deliveries.acknowledged(message.delivery());
                deleted.add(message);
            } else if (answer == Result.FAILED && requests < REQUESTS) {
                again.add(message);
            } else {
                deliveries.acknowledgementFailed(message.delivery());
                kept.add(message);
            }
        }
        if (!again.isEmpty()) {
            scheduler.after(PAUSE.multipliedBy(1L << (requests - 1)), () -> request(again, requests + 1));
        }
        if (again.size() < messages.size()) {
            this.kept.add(-characters(deleted) - characters(kept));
            notifyCallback(known(deleted), known(kept), failure, deleted.size() + kept.size());
        }
    }

    /** Returns the messages whose content is kept. If a message waited for its key, its content was dropped. */
    private static List<Message<Object>> known(List<ReceivedMessage> answered) {
        return answered.stream()
                .filter(message -> !message.isForgotten())
                .map(ReceivedMessage::message)
                .toList();
    }

    private void notifyCallback(
            List<Message<Object>> deleted, List<Message<Object>> kept, @Nullable Throwable failure, int answered) {
        List<Message<Object>> all =
                Stream.of(deleted, kept).flatMap(List::stream).toList();
        if (all.isEmpty()) {
            sent.add(-answered);
            return;
        }
        CompletableFuture<Void> called = CompletableFuture.completedFuture(all)
                .thenCompose(known -> kept.isEmpty()
                        ? callback.onSuccess(known)
                        : callback.onFailure(
                                known,
                                new SqsAcknowledgementException(
                                        "Deleting %d of %d messages failed".formatted(kept.size(), known.size()),
                                        List.copyOf(deleted),
                                        List.copyOf(kept),
                                        queue.queueUrl(),
                                        failure)));
        Boundary.whenComplete(
                ENTRY,
                called,
                (none, thrown) -> {
                    if (thrown != null) {
                        log.warn(
                                "An acknowledgement result callback on {} failed",
                                queue.queueUrl(),
                                PrintableException.of(thrown));
                    }
                    sent.add(-answered);
                },
                crash -> sent.add(-answered));
    }

    private void guard(List<ReceivedMessage> messages, Runnable step) {
        Boundary.guard(ENTRY, step, crash -> abandon(messages));
    }

    private void abandon(List<ReceivedMessage> messages) {
        deliveries.abandon(ReceivedMessage.deliveries(messages));
        kept.add(-characters(messages));
        sent.add(-messages.size());
    }
}
