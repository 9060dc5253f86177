package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.FifoUtils;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.listener.message.Answers;
import io.exactlyonce.listener.message.Arrivals;
import io.exactlyonce.listener.message.MessageReader;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * A queue that a listener polls, and what was last read of it: its attributes may be changed at any time. They are read
 * again each minute, while polling goes on, and whenever a decision hangs on them.
 */
final class WatchedQueue {

    private static final Logger log = LoggerFactory.getLogger(WatchedQueue.class);

    static final Duration BETWEEN_READS = Duration.ofMinutes(1);

    /** Messages that were received already may wait for an answer, but for a third of their window at most: nothing renews them yet. */
    private static final Duration LONGEST_READ = Duration.ofSeconds(2);

    /** SQS gives the redrive policy as JSON, with its number quoted or not. */
    private static final Pattern MAX_RECEIVE_COUNT = Pattern.compile("\"maxReceiveCount\"\\s*:\\s*\"?(\\d{1,9})");

    private final SqsAsyncClient client;
    private final String url;
    private final SqsQueueVisibility visibility;
    private final @Nullable Duration configuredWindow;
    private final DeliveryObserver observer;
    private final NanoClock clock;
    private final AtomicBoolean reading = new AtomicBoolean();

    private volatile Subscription current;
    private volatile long readAt;

    /**
     * Watches a queue.
     *
     * @param begun what was read when the listener started; its visibility is a {@link SqsQueueVisibility}
     * @param configuredWindow the listener's own window; {@code null} for the queue's
     * @param observer learns of changes
     * @param clock monotonic, in nanoseconds
     */
    WatchedQueue(
            SqsAsyncClient client,
            String url,
            Subscription begun,
            SqsQueueVisibility visibility,
            @Nullable Duration configuredWindow,
            DeliveryObserver observer,
            NanoClock clock) {
        this.client = client;
        this.url = url;
        this.current = begun;
        this.visibility = visibility;
        this.configuredWindow = configuredWindow;
        this.observer = observer;
        this.clock = clock;
        this.readAt = clock.nanoTime();
    }

    String url() {
        return url;
    }

    /** Returns the subscription with what was last read of its queue. */
    Subscription current() {
        return current;
    }

    /** Tells what a request has brought. */
    void received(Subscription asked, ReceiveMessageResponse response) {
        Arrivals.tell(observer, asked, response);
    }

    /** Reads the attributes again if a minute has passed; nothing waits for that, and nothing changes if it fails. */
    void readAgainIfDue() {
        if (clock.nanoTime() - readAt >= BETWEEN_READS.toNanos() && reading.compareAndSet(false, true)) {
            readAt = clock.nanoTime();
            Boundary.guard(
                    "Reading a queue's attributes",
                    () -> {
                        var unused = read().whenComplete((read, failure) -> reading.set(false));
                    },
                    crash -> reading.set(false));
        }
    }

    /**
     * On a FIFO queue, reads the redrive policy again for messages that seem to be on their last receive: what comes after
     * those may go on only if they will not come again. Where the policy cannot be read, none counts as the last.
     */
    CompletableFuture<Answers> confirmLastReceives(Answers answers) {
        if (!FifoUtils.isFifo(url) || answers.each().stream().noneMatch(WatchedQueue::hasLastReceive)) {
            return CompletableFuture.completedFuture(answers);
        }
        return read().thenApply(read -> new Answers(answers.each().stream()
                .map(answer -> answer.with(answer.subscription()
                        .revised(answer.subscription().window(), read ? current.maxReceiveCount() : null)))
                .toList()));
    }

    private static boolean hasLastReceive(Answers.Answer answer) {
        Integer most = answer.subscription().maxReceiveCount();
        return most != null
                && answer.messages().stream().anyMatch(message -> MessageReader.receiveCount(message) >= most);
    }

    /** Returns, by the redrive policy as it is now, whether the queue hands out a message no more; no if that is not known. */
    CompletableFuture<Boolean> givesUpAfter(int receives) {
        return read().thenApply(read -> {
            Integer most = current.maxReceiveCount();
            return read && most != null && receives >= most;
        });
    }

    /** Returns whether it could be read; never fails. */
    private CompletableFuture<Boolean> read() {
        try {
            return client.getQueueAttributes(request -> request.queueUrl(url)
                            .attributeNames(QueueAttributeName.VISIBILITY_TIMEOUT, QueueAttributeName.REDRIVE_POLICY)
                            .overrideConfiguration(limits -> limits.apiCallTimeout(patience())))
                    .thenApply(this::revise)
                    .exceptionally(this::keep);
        } catch (RuntimeException failure) {
            return CompletableFuture.completedFuture(keep(failure));
        }
    }

    private Duration patience() {
        Duration third = current.window().length().dividedBy(3);
        return third.compareTo(LONGEST_READ) < 0 ? third : LONGEST_READ;
    }

    private boolean keep(Throwable failure) {
        log.warn(
                "The attributes of the queue of {} could not be read again; its window of {} s and its maxReceiveCount "
                        + "({}) are taken for unchanged",
                current,
                current.window().length().toSeconds(),
                current.maxReceiveCount(),
                failure);
        return false;
    }

    private boolean revise(GetQueueAttributesResponse response) {
        Map<QueueAttributeName, String> attributes = response.attributes();
        VisibilityWindow window = window(
                configuredWindow,
                attributes.get(QueueAttributeName.VISIBILITY_TIMEOUT),
                current.listener(),
                current.queue());
        Subscription before = current;
        Subscription revised =
                before.revised(window, maxReceiveCount(attributes.get(QueueAttributeName.REDRIVE_POLICY)));
        if (!isSame(before, revised)) {
            current = revised;
            visibility.adapt(window);
            tell(before, revised);
        }
        return true;
    }

    private static boolean isSame(Subscription before, Subscription revised) {
        return before.window().equals(revised.window())
                && Objects.equals(before.maxReceiveCount(), revised.maxReceiveCount());
    }

    private void tell(Subscription before, Subscription revised) {
        log.warn(
                "The queue of {} was changed: visibility window {} s, was {} s; maxReceiveCount {}, was {}. Messages "
                        + "received from now on go by it",
                revised,
                revised.window().length().toSeconds(),
                before.window().length().toSeconds(),
                revised.maxReceiveCount(),
                before.maxReceiveCount());
        observer.subscribed(revised);
    }

    /**
     * Returns the window of the messages that a listener receives: its own, or else its queue's.
     *
     * @param queues the queue's {@code VisibilityTimeout}, if it is known
     * @throws InvalidListenerException if it is not known, or SQS has no such window
     */
    static VisibilityWindow window(
            @Nullable Duration configured, @Nullable String queues, String listener, String queueName) {
        try {
            // Awspring asks SQS for whole seconds, and drops the rest.
            return VisibilityWindow.ofSeconds(configured == null ? seconds(queues) : configured.toSeconds());
        } catch (IllegalArgumentException invalid) {
            throw new InvalidListenerException(
                    "Listener '%s' on queue '%s': %s".formatted(listener, queueName, invalid.getMessage()),
                    "choose a window that covers most handlers, for example twice their median time");
        }
    }

    private static long seconds(@Nullable String visibilityTimeout) {
        if (visibilityTimeout == null) {
            throw new IllegalArgumentException(
                    "the queue has no known VisibilityTimeout; set the listener's messageVisibilitySeconds");
        }
        return Long.parseLong(visibilityTimeout);
    }

    /** Returns after how many receives a message is moved to the dead-letter queue, or {@code null} if there is none. */
    static @Nullable Integer maxReceiveCount(@Nullable String policy) {
        if (policy == null) {
            return null;
        }
        Matcher matcher = MAX_RECEIVE_COUNT.matcher(policy);
        return matcher.find() ? Integer.valueOf(matcher.group(1)) : null;
    }
}
