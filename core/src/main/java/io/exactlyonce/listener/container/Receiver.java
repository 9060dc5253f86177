package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.FifoUtils;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.queue.ClientAbilities;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.metrics.MetricPublisher;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsServiceClientConfiguration;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * Receives messages, and estimates when their visibility timeouts began. Each request names the visibility timeout of
 * its messages. So this timeout is known even if the queue's own timeout changes while the request waits.
 *
 * <p>A poll of more than ten messages needs several requests. Only the first request waits for messages. If its answer
 * is full, the other requests are sent, and none of them waits. Spring Cloud AWS would send all requests at once, and
 * the messages of quick answers would wait for the slowest request. If one request failed, Spring Cloud AWS would also
 * drop the messages of all other requests.
 *
 * @param options the attributes to request, and the wait time
 * @param limits timeouts that replace the client's own
 * @param clock monotonic, in nanoseconds
 * @param goesOn returns false if a poll must not send further requests
 * @param late returns messages to the queue if they will not be handled, for example because their answer came too late
 */
record Receiver(
        SqsAsyncClient client,
        QueueWatch queue,
        SqsContainerOptions options,
        Limits limits,
        NanoClock clock,
        BooleanSupplier goesOn,
        Consumer<List<ReceivedMessage>> late) {

    private static final Logger log = LoggerFactory.getLogger(Receiver.class);

    /**
     * Timeouts of receive requests, which replace the client's own. A queue whose answers are all lost seems to be
     * empty, but the SDK then repeats its requests. Requests with {@code watched} measure these repetitions. Measuring
     * costs memory, so {@code watched} is used only while the queue seems to be empty.
     */
    record Limits(AwsRequestOverrideConfiguration ordinary, AwsRequestOverrideConfiguration watched) {}

    /** SQS's limit on the messages of one request. */
    private static final int MOST = 10;

    /**
     * Assumed time that an answer needs from SQS to this process. The visibility timeout of a message begins when SQS
     * sends the answer.
     */
    static final Duration ON_ITS_WAY = Duration.ofMillis(200);

    /**
     * SQS answers at the latest when the wait of a poll ends. If the answer arrives more than this time after the wait,
     * something has delayed it. For example, the process was frozen.
     */
    static final Duration LATE = Duration.ofSeconds(1);

    /**
     * A receive request times out this long after the end of its wait for messages, if not earlier. The time includes
     * the SDK's repetitions.
     */
    static final Duration LONGEST_ANSWER = Duration.ofMinutes(3);

    /**
     * A poll of more than ten messages sends several requests. After the answer to the first one, it waits at most this
     * long for the others, which SQS answers at once.
     */
    static final Duration LONGEST_MORE = Duration.ofSeconds(10);

    /**
     * Returns the timeouts of receive requests. If a timeout of the client is shorter than the wait of a poll, each
     * poll of an idle queue would fail. So the length of the wait is added to this timeout. If the client has no
     * timeout, a limit is set anyway, because an answer that never ends would keep its connection forever.
     *
     * @param wait how long a poll waits for messages
     * @param repetitions is notified of the SDK's repetitions
     */
    static Limits limits(SqsAsyncClient client, Duration wait, MetricPublisher repetitions) {
        Optional<ClientOverrideConfiguration> own =
                ClientAbilities.configuration(client).map(SqsServiceClientConfiguration::overrideConfiguration);
        Duration longest = wait.plus(LONGEST_ANSWER);
        AwsRequestOverrideConfiguration.Builder limits = AwsRequestOverrideConfiguration.builder();
        limits.apiCallTimeout(own.flatMap(ClientOverrideConfiguration::apiCallTimeout)
                .map(limit -> beyond(limit, wait))
                .filter(limit -> limit.compareTo(longest) < 0)
                .orElse(longest));
        own.flatMap(ClientOverrideConfiguration::apiCallAttemptTimeout)
                .map(limit -> beyond(limit, wait))
                .ifPresent(limits::apiCallAttemptTimeout);
        AwsRequestOverrideConfiguration ordinary = limits.build();
        // Metric publishers of a request replace those of its client, so the client's publishers are added here.
        own.ifPresent(configured -> configured.metricPublishers().forEach(limits::addMetricPublisher));
        return new Limits(ordinary, limits.addMetricPublisher(repetitions).build());
    }

    private static Duration beyond(Duration limit, Duration wait) {
        return limit.compareTo(wait.plus(LATE)) > 0 ? limit : wait.plus(limit);
    }

    /**
     * Polls. The future fails only if the first request fails. If a further request fails, the messages of the other
     * requests are still handled.
     */
    CompletableFuture<List<ReceivedMessage>> receive(int most) {
        queue.readAgainIfDue();
        return send(Math.min(most, MOST), pollTimeout(options))
                .thenCompose(first -> first.size() == MOST && most > MOST && goesOn.getAsBoolean()
                        ? more(first, most - MOST)
                        : CompletableFuture.completedFuture(first))
                .thenCompose(queue::confirmLastReceives);
    }

    /** Returns how long a poll waits, in whole seconds. Fractions are dropped, as in Spring Cloud AWS. */
    static Duration pollTimeout(SqsContainerOptions options) {
        return Duration.ofSeconds(options.getPollTimeout().toSeconds());
    }

    private CompletableFuture<List<ReceivedMessage>> more(List<ReceivedMessage> first, int most) {
        CompletableFuture<List<ReceivedMessage>> all = CompletableFuture.completedFuture(first);
        for (int left = most; left > 0; left -= MOST) {
            var other = send(Math.min(left, MOST), Duration.ZERO).exceptionally(this::nothing);
            all = all.thenCombine(
                    inTime(other),
                    (some, more) -> Stream.concat(some.stream(), more.stream()).toList());
        }
        return all;
    }

    /**
     * Waits for the answer to a further request, at most {@link #LONGEST_MORE}, and at most a third of the visibility
     * timeout. Nothing renews the messages of the first answer meanwhile. If the further answer comes too late, its
     * messages are returned to the queue.
     */
    private CompletableFuture<List<ReceivedMessage>> inTime(CompletableFuture<List<ReceivedMessage>> sent) {
        CompletableFuture<List<ReceivedMessage>> answered = new CompletableFuture<>();
        Boundary.detach("A late answer to a receive", sent.thenAccept(received -> {
            if (!answered.complete(received)) {
                late.accept(received);
            }
        }));
        Duration timeout = longestMore(queue.subscription().settings().window());
        return answered.completeOnTimeout(List.of(), timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    static Duration longestMore(VisibilityWindow window) {
        Duration third = window.length().dividedBy(3);
        return third.compareTo(LONGEST_MORE) < 0 ? third : LONGEST_MORE;
    }

    /**
     * Replaces a failed request by an answer without messages, so that the messages of the other requests are handled.
     * If the problem continues, the next poll fails.
     */
    private List<ReceivedMessage> nothing(Throwable failure) {
        log.warn(
                "One of several receives of {} failed; the others' messages are handled",
                queue.subscription(),
                PrintableException.of(failure));
        return List.of();
    }

    private CompletableFuture<List<ReceivedMessage>> send(int most, Duration wait) {
        QueueSettings requested = queue.subscription().settings();
        long sent = clock.nanoTime();
        return CompletableFuture.completedFuture(request(requested, most, wait))
                .thenCompose(client::receiveMessage)
                .thenApply(response -> {
                    long receivedAt = receivedAt(sent, wait, clock.nanoTime());
                    List<ReceivedMessage> received = once(usable(received(response, requested, receivedAt)));
                    queue.received(received, response.sdkHttpResponse());
                    queue.setQuiet(received.isEmpty());
                    return atMost(most, received);
                });
    }

    private List<ReceivedMessage> received(ReceiveMessageResponse response, QueueSettings requested, long receivedAt) {
        Subscription subscription = queue.subscription();
        return response.messages().stream()
                .map(message -> ReceivedMessage.received(
                        new SqsMessage(subscription.queue(), message), subscription, requested, receivedAt))
                .toList();
    }

    /**
     * Leaves out messages without a usable message ID or receipt handle, because SQS would reject a whole request that
     * contains such a message. On a FIFO queue, the other messages of the answer are returned to the queue. Otherwise
     * they could overtake the message that is left out.
     */
    private List<ReceivedMessage> usable(List<ReceivedMessage> received) {
        List<ReceivedMessage> usable =
                received.stream().filter(each -> each.polled().flaw() == null).toList();
        if (usable.size() == received.size()) {
            return received;
        }
        received.stream()
                .map(each -> each.polled().flaw())
                .filter(Objects::nonNull)
                .forEach(flaw -> log.error(
                        "A message of {} has {}: it is ignored, and redelivered when its visibility timeout ends. Check what "
                                + "answers in place of SQS",
                        queue.subscription(),
                        flaw));
        if (queue.subscription().isFifo()) {
            late.accept(usable);
            return List.of();
        }
        return usable;
    }

    /**
     * Keeps only one of several messages with the same receipt handle, because returning or deleting one of them would
     * return or delete all of them.
     */
    private List<ReceivedMessage> once(List<ReceivedMessage> received) {
        Set<String> handles = new HashSet<>();
        List<ReceivedMessage> once = received.stream()
                .filter(each -> handles.add(each.delivery().receiptHandle()))
                .toList();
        if (once.size() < received.size()) {
            log.warn(
                    "An answer has {} of its {} messages of {} again, with the same receipt handle; the repetitions are ignored",
                    received.size() - once.size(),
                    received.size(),
                    queue.subscription());
        }
        return once;
    }

    /** Returns surplus messages to the queue, because there are no permits for them. */
    private List<ReceivedMessage> atMost(int most, List<ReceivedMessage> received) {
        if (received.size() <= most) {
            return received;
        }
        log.warn(
                "An answer has {} messages of {}, of which {} were requested; the others are returned",
                received.size(),
                queue.subscription(),
                most);
        late.accept(received.subList(most, received.size()));
        return received.subList(0, most);
    }

    @SuppressWarnings(
            "deprecation") // Servers other than AWS may know only the older name, which Spring Cloud AWS uses, too.
    private ReceiveMessageRequest request(QueueSettings requested, int most, Duration wait) {
        ReceiveMessageRequest.Builder request = ReceiveMessageRequest.builder()
                .queueUrl(queue.url())
                .maxNumberOfMessages(most)
                .attributeNamesWithStrings(options.getMessageSystemAttributeNames())
                .messageAttributeNames(options.getMessageAttributeNames())
                .waitTimeSeconds((int) wait.toSeconds())
                .visibilityTimeout((int) requested.window().length().toSeconds())
                .overrideConfiguration(queue.isQuiet() ? limits.watched : limits.ordinary);
        if (FifoUtils.isFifo(queue.url())) {
            // Each request has an ID. If an answer is lost, the SDK repeats the request with its ID. Because of the ID,
            // SQS answers at once, with the same messages.
            request.receiveRequestAttemptId(UUID.randomUUID().toString());
        }
        return request.build();
    }

    /**
     * Estimates when SQS sent an answer, because the visibility timeouts of its messages began then. Usually this is
     * {@link #ON_ITS_WAY} before the answer arrived. But SQS sends the answer at the latest when the request's wait for
     * messages ends.
     *
     * <p>If the answer comes more than {@link #LATE} after the wait, the process may have been frozen, or the SDK may
     * have repeated the request. Then the time at which the request was sent is returned. The visibility timeouts
     * cannot have begun earlier.
     */
    static long receivedAt(long sent, Duration wait, long answered) {
        long waited = sent + wait.toNanos();
        if (answered - waited > LATE.toNanos()) {
            return sent;
        }
        long noLater = Math.min(answered - ON_ITS_WAY.toNanos() - sent, wait.toNanos());
        return sent + Math.max(0, noLater);
    }
}
