package io.exactlyonce.listener.container;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * Keeps the attributes of a polled queue up to date, because they may change at any time. They are read again each
 * minute while the listener polls, and before decisions that depend on them.
 */
final class QueueWatch {

    private static final Logger log = LoggerFactory.getLogger(QueueWatch.class);

    static final Duration BETWEEN_READS = Duration.ofMinutes(1);

    /**
     * Reading the attributes may take this long, or a third of the visibility timeout if that is shorter. Received
     * messages may wait for the attributes, and nothing renews the messages meanwhile.
     */
    private static final Duration LONGEST_READ = Duration.ofSeconds(2);

    private static final int LONGEST_NUMBER = 40;

    private final Subscription subscription;
    private final SqsQueue queue;
    private final @Nullable Duration configuredTimeout;
    private final DeliveryObserver observer;
    private final NanoClock clock;
    private final AnswerDates dates = new AnswerDates();

    private volatile long readAt;
    private volatile boolean quiet;

    /**
     * Watches a queue.
     *
     * @param subscription gets the settings whenever they have changed
     * @param queue sends requests to the queue
     * @param attributes the queue's attributes when the listener starts
     * @param configuredTimeout the listener's own visibility timeout; {@code null} if it uses the queue's
     * @param observer is notified of changes
     * @param clock monotonic, in nanoseconds
     */
    QueueWatch(
            Subscription subscription,
            SqsQueue queue,
            QueueAttributes attributes,
            @Nullable Duration configuredTimeout,
            DeliveryObserver observer,
            NanoClock clock) {
        this.subscription = subscription;
        this.queue = queue;
        this.configuredTimeout = configuredTimeout;
        this.observer = observer;
        this.clock = clock;
        this.readAt = clock.nanoTime();
        queue.watch(attributes, this::change);
    }

    String url() {
        return queue.queueUrl();
    }

    /** Returns the listener's subscription to this queue, with the latest settings of the queue. */
    Subscription subscription() {
        return subscription;
    }

    /** Sets whether the latest answer to a receive had no messages. */
    void setQuiet(boolean hadNone) {
        quiet = hadNone;
    }

    boolean isQuiet() {
        return quiet;
    }

    /** Reports to the observer that these messages were received. */
    void received(List<ReceivedMessage> messages, @Nullable SdkHttpResponse answer) {
        Instant answeredAt = dates.of(answer);
        for (ReceivedMessage received : messages) {
            observer.on(new DeliveryEvent.Received(
                    subscription,
                    received.delivery().receiveCount(),
                    received.polled().age(answeredAt)));
        }
    }

    /**
     * Reads the attributes again if they were not read for a minute. If they cannot be read, the last attributes still
     * apply.
     */
    void readAgainIfDue() {
        if (clock.nanoTime() - readAt >= BETWEEN_READS.toNanos()) {
            readAt = clock.nanoTime();
            Boundary.guardPeriodic(
                    "Reading a queue's attributes", () -> Boundary.detach("Reading a queue's attributes", read()));
        }
    }

    /**
     * Checks messages of a FIFO queue that seem to be on their last receive. When such a message fails, the later
     * messages of its group are handled. That would be wrong if SQS delivered the message once more. So the current
     * redrive policy is read first. If it cannot be read, no message counts as being on its last receive.
     */
    CompletableFuture<List<ReceivedMessage>> confirmLastReceives(List<ReceivedMessage> messages) {
        if (!subscription.isFifo()
                || messages.stream().noneMatch(received -> received.delivery().isOnItsLastReceive())) {
            return CompletableFuture.completedFuture(messages);
        }
        return read().thenApply(read -> {
            QueueSettings now =
                    read ? subscription.settings() : subscription.settings().withoutDeadLetters();
            return messages.stream().map(received -> confirmed(received, now)).toList();
        });
    }

    private static ReceivedMessage confirmed(ReceivedMessage received, QueueSettings now) {
        return received.requestedWith(new QueueSettings(
                received.delivery().settings().window(), now.maxReceiveCount(), now.deadLetterQueue()));
    }

    /**
     * Reads the redrive policy again, and returns whether a message is on its last receive. Returns false if the policy
     * cannot be read.
     *
     * @param receives how often the message was received
     */
    CompletableFuture<Boolean> isFinalReceive(int receives) {
        return read().thenApply(read -> read && subscription.settings().isLastReceive(receives));
    }

    /**
     * Reads the attributes. The returned future never fails; its value is false if the attributes could not be read.
     */
    private CompletableFuture<Boolean> read() {
        return CompletableFuture.completedFuture(readTimeout())
                .thenCompose(queue::readAttributes)
                .thenApply(read -> true)
                .exceptionally(this::keep);
    }

    private Duration readTimeout() {
        Duration third = subscription.settings().window().length().dividedBy(3);
        return third.compareTo(LONGEST_READ) < 0 ? third : LONGEST_READ;
    }

    private boolean keep(Throwable failure) {
        QueueSettings kept = subscription.settings();
        log.warn(
                "The attributes of the queue of {} could not be read again; its visibility timeout "
                        + "of {} s and its maxReceiveCount ({}) are assumed unchanged",
                subscription,
                kept.window().length().toSeconds(),
                kept.maxReceiveCount(),
                PrintableException.of(failure));
        return false;
    }

    private void change(QueueAttributes read) {
        QueueSettings before = subscription.settings();
        QueueSettings now =
                QueueSettings.of(window(configuredTimeout, read, subscription.listener(), subscription.queue()), read);
        readAt = clock.nanoTime();
        if (!now.equals(before)) {
            subscription.change(now);
            queue.adapt(now.window());
            logChange(before, now);
            observer.changed(subscription);
        }
    }

    private void logChange(QueueSettings before, QueueSettings now) {
        log.warn(
                "The queue of {} was changed: visibility timeout {} s, was {} s; maxReceiveCount {}, "
                        + "was {}; dead-letter queue {}, was {}. The change applies to messages received from now on",
                subscription,
                now.window().length().toSeconds(),
                before.window().length().toSeconds(),
                now.maxReceiveCount(),
                before.maxReceiveCount(),
                now.deadLetterQueue(),
                before.deadLetterQueue());
    }

    /**
     * Returns the visibility timeout of a listener's messages. If the listener configures none, the queue's timeout
     * applies.
     *
     * @throws InvalidListenerException if the timeout is unknown, or outside of SQS's limits
     */
    static VisibilityWindow window(
            @Nullable Duration configured, QueueAttributes queue, String listener, String queueName) {
        // Spring Cloud AWS requests whole seconds, so fractions of a second are dropped here, too.
        Long seconds = configured == null
                ? queue.number(QueueAttributeName.VISIBILITY_TIMEOUT)
                : Long.valueOf(configured.toSeconds());
        try {
            if (seconds == null) {
                throw new IllegalArgumentException(
                        "the queue's VisibilityTimeout is '%s', and not a number of seconds; set the listener's messageVisibilitySeconds"
                                .formatted(
                                        OneLine.of(queue.text(QueueAttributeName.VISIBILITY_TIMEOUT), LONGEST_NUMBER)));
            }
            return VisibilityWindow.ofSeconds(seconds);
        } catch (IllegalArgumentException invalid) {
            throw new InvalidListenerException(
                    "Listener '%s' on queue '%s': %s".formatted(listener, queueName, invalid.getMessage()),
                    "choose a visibility timeout that covers most handlers, for example twice their median time");
        }
    }
}
