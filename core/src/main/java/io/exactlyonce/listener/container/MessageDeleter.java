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
 * Deletes handled messages, up to ten in a request. Deletes are buffered until the configured number is reached or the
 * configured interval has passed, but at most for a second. For FIFO queues, deletes are sent at once by default. A
 * message is renewed until SQS has confirmed its delete.
 *
 * <p>When the listener stops, this class sends the remaining deletes and waits for the answers, because the client may
 * be closed afterwards. Each message that is not deleted by then is redelivered as a duplicate.
 *
 * <p>If a whole request fails, the SDK repeats it. If SQS answers that it could not delete some messages of a request,
 * the SDK does not repeat these deletes. So this class sends them again, up to three times in all. Otherwise a message
 * that was handled on its last receive could end in the dead-letter queue. A delete that SQS rejects as invalid is not
 * sent again.
 *
 * <p>An application's callback gets each message once, together with the other messages of the same answer. If a
 * duplicate had to wait while another message with its key was handled, the callback does not get the duplicate. Its
 * content was dropped to save memory.
 */
public final class MessageDeleter {

    private static final String ENTRY = "Deleting messages";

    /**
     * Deletes are buffered at most this long, whatever the container's options say. Until its delete, a message is in
     * flight, so on a FIFO queue the next messages of its group must wait. If an application configured a very long
     * interval, they could wait for up to 12 hours.
     */
    public static final Duration LONGEST_BUFFERED = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(MessageDeleter.class);

    /** SQS's limit on the entries of one request. */
    private static final int MOST = 10;

    /** A delete is tried three times at most, as in the SDK's standard retry mode. */
    private static final int REQUESTS = 3;

    /**
     * If the messages that wait for their deletes have more characters than this, all buffered deletes are sent at
     * once, and polling waits.
     */
    private static final int MUCH_KEPT = 1 << 20;

    /**
     * Added to the number of characters of each message. Very many short messages then also have so many characters
     * that polling stops.
     */
    private static final int LEAST_CHARACTERS = 128;

    /** Pause before a delete is sent the second time. The pause before the third time is twice as long. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Deliveries deliveries;
    private final SqsQueue queue;
    private final EngineScheduler scheduler;
    private final AsyncAcknowledgementResultCallback<Object> callback;
    private final Duration interval;
    private final int threshold;

    /**
     * Messages whose deletes are not sent yet. When the deletes are sent, the messages are counted by {@link #sent}
     * instead, until SQS's answer is processed.
     */
    private final List<ReceivedMessage> buffered = new ArrayList<>();

    private final Counter sent = new Counter(new AtomicInteger());

    /**
     * Characters of all messages that wait for their deletes. The content of a message counts only if the application
     * has a callback, because the content is dropped otherwise.
     */
    private final Counter kept = new Counter(new AtomicInteger());

    private final boolean passesMessagesOn;
    private boolean isTimed;
    private boolean isAtOnce;

    /**
     * @param options have the number of deletes to buffer, and the interval. By default, deletes for a FIFO queue are
     *     not buffered, because SQS delivers the next message of a group only after the delete
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

    /** Returns whether a callback overrides a method of its interface. The interface's own method does nothing. */
    private static boolean isOverridden(AsyncAcknowledgementResultCallback<Object> callback, String method) {
        return Stream.of(callback.getClass().getMethods())
                .anyMatch(each -> each.getName().equals(method) && !each.isDefault());
    }

    /** Returns whether the application has a callback, which needs the content of deleted messages. */
    boolean passesMessagesOn() {
        return passesMessagesOn;
    }

    /**
     * Blocks the next poll while messages with more than {@link #MUCH_KEPT} characters in total are waiting for their
     * deletes. Returns false on timeout.
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
     * Sends the buffered deletes after the interval. If the scheduler rejects the task, the next delete tries to
     * schedule it again.
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
     * Sends the remaining deletes, and waits for SQS's answers. This is done twice, because other threads may add
     * deletes during the first wait. From now on, new deletes are sent without buffering.
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

    /** @param requests how often the deletes of these messages were sent, including this time */
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

    /** Returns the messages whose content was not dropped. */
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
