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
 * Deletes messages, ten in a request: as soon as there are enough of them, or at the end of an interval of a second at
 * most. Without a number and an interval, deletes are sent at once. Messages are renewed until the queue has confirmed
 * their deletes. A listener that stops sends the remaining deletes, and waits for the answers, because the client is
 * closed afterwards. Otherwise each of those messages would be redelivered as a duplicate.
 *
 * <p>The SDK repeats a request that fails, but not an entry that fails inside an answer. This class repeats such an
 * entry a few times, unless it is invalid. Otherwise its message would be redelivered, and on its last receive would
 * end in the dead-letter queue although it was handled.
 *
 * <p>The callback gets each message once, with others of the same answer. It does not get a duplicate that has waited,
 * because its content was dropped.
 */
public final class MessageDeleter {

    private static final String ENTRY = "Deleting messages";

    /**
     * The longest time that a delete is buffered, whatever the container's options say. Meanwhile its message is
     * renewed, and on a FIFO queue its group waits. A number that is never reached, or a long interval, would hide the
     * rest of the group for up to 12 hours.
     */
    public static final Duration LONGEST_BUFFERED = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(MessageDeleter.class);

    /** SQS's limit on the entries of one request. */
    private static final int MOST = 10;

    /** The most requests for one delete, as in the SDK's standard mode. */
    private static final int REQUESTS = 3;

    /** From this number of characters on, all waiting deletes are sent at once, and nothing is polled. */
    private static final int MUCH_KEPT = 1 << 20;

    /** The weight of a message without its content, so that at most 8,192 such messages wait for their deletes. */
    private static final int LEAST_CHARACTERS = 128;

    /** The pause before the second request, which doubles before each further one. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Deliveries deliveries;
    private final SqsQueue queue;
    private final EngineScheduler scheduler;
    private final AsyncAcknowledgementResultCallback<Object> callback;
    private final Duration interval;
    private final int threshold;

    /**
     * Messages whose delete is not sent yet. A message is here, or counts as {@link #sent}, until its delete is
     * answered.
     */
    private final List<ReceivedMessage> buffered = new ArrayList<>();

    private final Counter sent = new Counter(new AtomicInteger());

    /**
     * The characters of messages that wait for their deletes. Their content is kept only for an application callback.
     */
    private final Counter kept = new Counter(new AtomicInteger());

    private final boolean passesMessagesOn;
    private boolean isTimed;
    private boolean isAtOnce;

    /**
     * @param options how many deletes are gathered, and for how long, {@link #LONGEST_BUFFERED} at most. By default
     *     no delete is gathered for a FIFO queue, because it delivers the next messages of a group only after earlier
     *     ones are deleted
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

    /** Returns whether the application has its own callback. Spring Cloud AWS's default callback does nothing. */
    private static boolean isOverridden(AsyncAcknowledgementResultCallback<Object> callback, String method) {
        return Stream.of(callback.getClass().getMethods())
                .anyMatch(each -> each.getName().equals(method) && !each.isDefault());
    }

    /** Returns whether the application has a callback, so that messages keep their content until it is called. */
    boolean passesMessagesOn() {
        return passesMessagesOn;
    }

    /** Waits until the messages that wait for their deletes are few or small enough. Returns false on timeout. */
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

    /** If the scheduler has no thread for this task, the next delete tries again. */
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
     * Sends the remaining deletes, makes later deletes go at once, and waits for the queue's answers. Sends twice,
     * because another thread may have seen the listener still running, and may have added a delete meanwhile.
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

    /** @param requests number of requests for these messages so far, including this one */
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

    /**
     * Returns the messages whose content is available. The content of a message that waited for its key was dropped.
     */
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
