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
 * Receives messages, and records for each request when the visibility timeouts of its messages began at the latest. The
 * request contains that timeout, so that a change of the queue's own timeout does not affect pending requests.
 *
 * <p>Spring Cloud AWS would send all requests of a large poll at once, and wait for the slowest, which may be an empty
 * one that waits the whole poll timeout. If one request failed, it would drop all messages. Here only the first request
 * waits for messages. If its answer is full, the other requests are sent, and none of them waits.
 *
 * @param options the attributes to request, and the wait time
 * @param limits replace the client's own
 * @param clock monotonic, in nanoseconds
 * @param goesOn whether a poll may send further requests
 * @param late takes messages that arrive after the end of their poll
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
     * Replaces the client's own configuration of a request. Repetitions are measured only on a quiet queue, because
     * measuring a request costs memory. A queue also seems quiet if each answer with messages is lost.
     */
    record Limits(AwsRequestOverrideConfiguration ordinary, AwsRequestOverrideConfiguration watched) {}

    /** SQS's limit on the messages of one request. */
    private static final int MOST = 10;

    /**
     * A message's visibility timeout begins when SQS sends the message, which is assumed to be this long before it
     * arrives.
     */
    static final Duration ON_ITS_WAY = Duration.ofMillis(200);

    /** If an answer is later than the poll's wait time plus this, something else delayed it. */
    static final Duration LATE = Duration.ofSeconds(1);

    /** The longest time of a request in addition to its wait, including the SDK's retries. */
    static final Duration LONGEST_ANSWER = Duration.ofMinutes(3);

    /** The longest wait of a poll for the answers to its further requests, which do not wait at the server. */
    static final Duration LONGEST_MORE = Duration.ofSeconds(10);

    /**
     * Returns limits for requests. A client's timeout that would end before a poll's wait counts from the end of that
     * wait. Otherwise each poll of an idle queue would fail, and messages that SQS sends meanwhile would be invisible
     * until their visibility timeouts end. Without a timeout of the client, an answer that never ends would keep its
     * connection forever.
     *
     * @param wait the wait of a poll
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
        // Publishers of a request replace those of its client, so the client's are added.
        own.ifPresent(configured -> configured.metricPublishers().forEach(limits::addMetricPublisher));
        return new Limits(ordinary, limits.addMetricPublisher(repetitions).build());
    }

    private static Duration beyond(Duration limit, Duration wait) {
        return limit.compareTo(wait.plus(LATE)) > 0 ? limit : wait.plus(limit);
    }

    /** Polls once. Fails only if the first request fails, when no message was received yet. */
    CompletableFuture<List<ReceivedMessage>> receive(int most) {
        queue.readAgainIfDue();
        return send(Math.min(most, MOST), pollTimeout(options))
                .thenCompose(first -> first.size() == MOST && most > MOST && goesOn.getAsBoolean()
                        ? more(first, most - MOST)
                        : CompletableFuture.completedFuture(first))
                .thenCompose(queue::confirmLastReceives);
    }

    /** Returns the wait of a poll, in whole seconds: the fraction is dropped, as in Spring Cloud AWS. */
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
     * Ignores an answer that takes longer than a third of the visibility timeout, because nothing renews the messages
     * of the first answer before the poll has ended. A long visibility timeout permits no longer wait, because the poll
     * itself must end in time. Messages that come later are returned.
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
     * Returns no messages for a request that failed. The next poll meets the same problem, and has no messages to lose.
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
     * Leaves out messages that no request can name, because they would make SQS reject the requests of other messages.
     * On a FIFO queue, the other messages of the same answer must not overtake such a message, so they are returned.
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
     * Leaves out repetitions of a receipt handle, because a return or a delete of one would be a return or a delete of
     * all.
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

    /** Returns surplus messages to the queue, because there are permits and memory only for the requested number. */
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
            "deprecation") // Spring Cloud AWS uses this name too, because servers other than AWS may not know the new
    // one.
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
            // The SDK repeats a request whose answer is lost. With this id, the repetition gets the same messages at
            // once.
            request.receiveRequestAttemptId(UUID.randomUUID().toString());
        }
        return request.build();
    }

    /**
     * Returns a time at or before which the visibility timeouts of an answer's messages began: never later than the end
     * of the request's wait. If the answer comes later than that, the time is unknown, because the process may have
     * been frozen, or the SDK may have repeated the request. Then the time is that of the request.
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
