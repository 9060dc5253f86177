package io.exactlyonce.queue;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.boundary.RedactedException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.arns.Arn;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeNameForSends;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageResponse;

/**
 * The dead-letter queue of a listener's queue: shows messages without taking them, and sends chosen ones back. Methods
 * wait for SQS, one request at a time, each for some seconds at most.
 *
 * <p>A message is first sent, and only then deleted. A crash in between leaves the message in both queues, and its key
 * suppresses the second one. The opposite order could lose the message.
 *
 * <p>Each lookup counts as a receive of the dead-letter queue. The number of receives matters only if the dead-letter
 * queue itself has a dead-letter queue: after enough lookups, SQS would move a message there. Such a queue is not read.
 */
public final class DeadLetterQueue {

    private static final Logger log = LoggerFactory.getLogger(DeadLetterQueue.class);

    /** SQS's limit on the messages of one request. */
    private static final int MOST = 10;

    /** SQS's limit on the attributes of a message. */
    private static final int MOST_ATTRIBUTES = 10;

    /** The most receives of a search for chosen messages: it sees about the oldest 500 messages. */
    private static final int MOST_RECEIVES = 50;

    /**
     * How long a search hides the messages that it receives from other consumers. After a crash they stay invisible for
     * this time.
     */
    private static final int SEARCH_SECONDS = 60;

    /**
     * A receive that may wait makes SQS query all of its servers, so that it finds messages of a queue that has few.
     */
    private static final int WAIT_SECONDS = 1;

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(5);

    /** The longest search: at its end, the messages of its first receive are still invisible. */
    private static final Duration LONGEST_SEARCH = Duration.ofSeconds(SEARCH_SECONDS / 2);

    /**
     * If a FIFO queue had a deduplication ID within the last five minutes, SQS accepts another message with this ID,
     * and drops it. One more minute covers differences of clocks.
     */
    private static final Duration DEDUPLICATION = Duration.ofMinutes(6);

    private static final String DATE = "Date";

    private static final String MOVED =
            "it has a dead-letter queue of its own, '%s', to which looks would move its messages; look at it with SQS's own tools, or remove its redrive policy";

    private final SqsQueue source;
    private final Arn arn;
    private final InstantSource clock;
    private @Nullable String url;

    /**
     * Some messages of the queue.
     *
     * @param approximateCount messages of the whole queue; {@code null} if SQS did not return it
     * @param at SQS's time, or this machine's if SQS did not return it
     * @param obstacle why the queue was not read; {@code null} if it was
     */
    public record Look(
            List<Message> messages,
            @Nullable Long approximateCount,
            Instant at,
            @Nullable String obstacle) {}

    /**
     * The result of redriving a chosen message.
     *
     * @param isSent whether the message is in its source queue
     * @param newMessageId its id there; {@code null} if it is not
     * @param problem why it was not sent, or is still in the dead-letter queue; {@code null} if neither
     * @param isRefused whether SQS refused the request
     */
    public record Redriven(
            String messageId,
            boolean isSent,
            @Nullable String newMessageId,
            @Nullable String problem,
            boolean isRefused) {}

    /**
     * The end of a search for chosen messages.
     *
     * @param redriven one for each chosen message that was found
     * @param failure why the search ended early; {@code null} if it did not
     * @param obstacle why the queue was not searched; {@code null} if it was
     */
    public record Search(
            List<Redriven> redriven,
            @Nullable RuntimeException failure,
            @Nullable String obstacle) {}

    /**
     * Makes the dead-letter queue of a queue.
     *
     * @return {@code null} if no dead-letter queue of the queue is known
     */
    public static @Nullable DeadLetterQueue of(SqsQueue source, InstantSource clock) {
        QueueAttributes.Redrive redrive = source.attributes().redrive();
        Arn arn = redrive == null ? null : Arn.tryFromString(redrive.target()).orElse(null);
        return arn == null ? null : new DeadLetterQueue(source, arn, clock);
    }

    private DeadLetterQueue(SqsQueue source, Arn arn, InstantSource clock) {
        this.source = source;
        this.arn = arn;
        this.clock = clock;
    }

    /** Returns the queue's name. */
    public String name() {
        return arn.resourceAsString();
    }

    /** Returns up to ten messages, which stay visible. Returns none if reading could move the queue's messages. */
    public Look look() {
        QueueAttributes attributes = attributes();
        Long count = attributes.number(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES);
        String obstacle = obstacle(attributes);
        if (obstacle != null) {
            return new Look(List.of(), count, clock.instant(), obstacle);
        }
        ReceiveMessageResponse response = receive(0);
        return new Look(response.messages(), count, at(response), null);
    }

    private QueueAttributes attributes() {
        return QueueAttributes.read(client(), url(), limits -> limits.apiCallTimeout(LONGEST_REQUEST))
                .join();
    }

    /** Returns why the queue is not read; {@code null} if it may be. */
    private static @Nullable String obstacle(QueueAttributes attributes) {
        QueueAttributes.Redrive next = attributes.redrive();
        return next == null ? null : MOVED.formatted(next.name());
    }

    /**
     * Sends up to ten chosen messages back to the queue that they came from, and deletes them. All other messages are
     * visible again afterwards. Does not search if reading could move the queue's messages.
     *
     * @param chosen returns whether a message is to be redriven
     * @param isDone returns whether all chosen messages have been found
     * @return one result for each chosen message that was found, also if a later request to SQS failed
     */
    public Search redrive(Predicate<Message> chosen, BooleanSupplier isDone) {
        String obstacle = obstacle(attributes());
        if (obstacle != null) {
            return new Search(List.of(), null, obstacle);
        }
        List<Redriven> redriven = new ArrayList<>();
        // Without bodies: a sender may have filled the queue with messages of 1 MiB.
        Map<String, String> others = new LinkedHashMap<>();
        Set<String> stuckGroups = new HashSet<>();
        RuntimeException failed = null;
        Instant end = clock.instant().plus(LONGEST_SEARCH);
        try {
            for (int receives = 0;
                    receives < MOST_RECEIVES && redriven.size() < MOST && !isDone.getAsBoolean();
                    receives++) {
                ReceiveMessageResponse response;
                try {
                    response = receive(SEARCH_SECONDS);
                } catch (RuntimeException failure) {
                    failed = failure;
                    break;
                }
                if (response.messages().isEmpty() || clock.instant().isAfter(end)) {
                    response.messages().forEach(message -> others.put(message.messageId(), message.receiptHandle()));
                    break;
                }
                for (Message message : response.messages()) {
                    boolean isChosen = redriven.size() < MOST && chosen.test(message);
                    if (isChosen) {
                        redriven.add(redrive(message, at(response), stuckGroups));
                    }
                    if (!isChosen || !redriven.get(redriven.size() - 1).isSent()) {
                        others.put(message.messageId(), message.receiptHandle());
                    }
                }
            }
        } finally {
            show(List.copyOf(others.values()));
        }
        return new Search(redriven, failed, null);
    }

    /** Keeps the order of a group: no message is sent before an earlier chosen one of its queue and group that stays. */
    private Redriven redrive(Message message, Instant now, Set<String> stuckGroups) {
        String group = isFifo() ? message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID) : null;
        if (group != null && stuckGroups.contains(group)) {
            return new Redriven(
                    message.messageId(),
                    false,
                    null,
                    "an earlier message of its group stays in the dead-letter queue",
                    false);
        }
        Redriven redriven = redrive(message, now);
        if (group != null && !redriven.isSent() && !isOfAnotherQueue(message)) {
            stuckGroups.add(group);
        }
        return redriven;
    }

    private Redriven redrive(Message message, Instant now) {
        String obstacle = obstacle(message, now);
        if (obstacle != null) {
            return new Redriven(message.messageId(), false, null, obstacle, false);
        }
        SendMessageResponse sent;
        try {
            sent = request(() -> client().sendMessage(copy(message)));
        } catch (RuntimeException failure) {
            return new Redriven(
                    message.messageId(),
                    false,
                    null,
                    "SQS is not known to have accepted it (%s), so it stays in the dead-letter queue; if SQS has, its key suppresses the second one"
                            .formatted(name(failure)),
                    true);
        }
        try {
            request(() -> client().deleteMessage(delete -> delete.queueUrl(url())
                    .receiptHandle(message.receiptHandle())
                    .overrideConfiguration(limits(LONGEST_REQUEST))));
            return new Redriven(message.messageId(), true, sent.messageId(), null, false);
        } catch (RuntimeException failure) {
            return new Redriven(
                    message.messageId(),
                    true,
                    sent.messageId(),
                    "it was sent, but is still in the dead-letter queue (%s); its key suppresses the second one"
                            .formatted(name(failure)),
                    true);
        }
    }

    /**
     * Returns why a message cannot be redriven; {@code null} if it can be.
     *
     * @param now by SQS's clock
     */
    public @Nullable String obstacle(Message message, Instant now) {
        if (isOfAnotherQueue(message)) {
            return "it came from the queue '%s'; redrive it by a listener of that queue"
                    .formatted(QueueAddress.name(String.valueOf(cameFrom(message))));
        }
        if (lacksRoomForItsKey(message)) {
            return ("its id is its key, and its copy has no room for the key beside %d attributes; find out whether it has run,"
                            + " and send its body as a new message if it has not")
                    .formatted(MOST_ATTRIBUTES);
        }
        Instant sent = time(message, MessageSystemAttributeName.SENT_TIMESTAMP);
        if (!isFifo() || (sent != null && sent.plus(DEDUPLICATION).isBefore(now))) {
            return null;
        }
        return "SQS would take it for a duplicate and drop it, because its queue is FIFO and had its deduplication ID%s"
                .formatted(sent == null ? "" : " minutes ago; repeat this after " + sent.plus(DEDUPLICATION));
    }

    /** Returns whether another queue has this dead-letter queue, too. */
    public boolean isSharedWith(DeadLetterQueue other) {
        return arn.equals(other.arn);
    }

    /** Returns whether a message came from another queue that shares this dead-letter queue. */
    public boolean isOfAnotherQueue(Message message) {
        String came = cameFrom(message);
        return came != null && QueueAddress.configured(came).differsFrom(QueueAddress.of(source));
    }

    private static @Nullable String cameFrom(Message message) {
        return message.attributes().get(MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN);
    }

    /** Returns whether the copy of a message, which has a new id, would have another key. */
    private boolean lacksRoomForItsKey(Message message) {
        if (message.messageAttributes().size() < MOST_ATTRIBUTES) {
            return false;
        }
        MessageKeys.Key key = key(message);
        return key != null
                && key.attribute() != null
                && !message.messageAttributes().containsKey(key.attribute());
    }

    private boolean isFifo() {
        return source.queueUrl().endsWith(".fifo");
    }

    /** Returns a time of a message; {@code null} if SQS did not return it. */
    public static @Nullable Instant time(Message message, MessageSystemAttributeName name) {
        try {
            return Instant.ofEpochMilli(
                    Long.parseLong(message.attributesAsStrings().getOrDefault(name.toString(), "")));
        } catch (NumberFormatException absent) {
            return null;
        }
    }

    /** Copies body, attributes, group, deduplication ID and trace header. The copy gets a new message id. */
    private SendMessageRequest copy(Message message) {
        Map<String, String> system = message.attributesAsStrings();
        Map<String, MessageAttributeValue> attributes = new HashMap<>(message.messageAttributes());
        MessageKeys.Key key = key(message);
        if (key != null && key.attribute() != null) {
            attributes.putIfAbsent(
                    key.attribute(),
                    MessageAttributeValue.builder()
                            .dataType("String")
                            .stringValue(key.key())
                            .build());
        }
        SendMessageRequest.Builder copy = SendMessageRequest.builder()
                .queueUrl(source.queueUrl())
                .messageBody(message.body())
                .messageAttributes(attributes)
                .messageGroupId(system.get(MessageSystemAttributeName.MESSAGE_GROUP_ID.toString()))
                .overrideConfiguration(limits(LONGEST_REQUEST));
        if (isFifo()) {
            copy.messageDeduplicationId(system.get(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID.toString()));
        }
        String trace = system.get(MessageSystemAttributeName.AWS_TRACE_HEADER.toString());
        if (trace != null) {
            copy.messageSystemAttributes(Map.of(
                    MessageSystemAttributeNameForSends.AWS_TRACE_HEADER,
                    MessageSystemAttributeValue.builder()
                            .dataType("String")
                            .stringValue(trace)
                            .build()));
        }
        return copy.build();
    }

    private MessageKeys.@Nullable Key key(Message message) {
        try {
            return source.keys().of(message);
        } catch (RuntimeException unusable) {
            log.debug("A message of {} has no usable key", name(), RedactedException.of(unusable));
            return null;
        }
    }

    /** Makes messages visible again. If that fails, they become visible when the search's visibility timeout ends. */
    private void show(List<String> receiptHandles) {
        for (int from = 0; from < receiptHandles.size(); from += MOST) {
            List<String> some = receiptHandles.subList(from, Math.min(from + MOST, receiptHandles.size()));
            try {
                request(() -> client().changeMessageVisibilityBatch(change -> change.queueUrl(url())
                        .overrideConfiguration(limits(LONGEST_REQUEST))
                        .entries(some.stream()
                                .map(handle -> ChangeMessageVisibilityBatchRequestEntry.builder()
                                        .id(String.valueOf(some.indexOf(handle)))
                                        .receiptHandle(handle)
                                        .visibilityTimeout(0)
                                        .build())
                                .toList())));
            } catch (RuntimeException failure) {
                log.debug(
                        "Messages of {} are visible again after {} s",
                        name(),
                        SEARCH_SECONDS,
                        PrintableException.of(failure));
            }
        }
    }

    private ReceiveMessageResponse receive(int invisibleSeconds) {
        return request(() -> client().receiveMessage(receive -> receive.queueUrl(url())
                .maxNumberOfMessages(MOST)
                .visibilityTimeout(invisibleSeconds)
                .waitTimeSeconds(WAIT_SECONDS)
                .messageAttributeNames("All")
                .messageSystemAttributeNames(MessageSystemAttributeName.ALL)
                .overrideConfiguration(limits(LONGEST_REQUEST.plusSeconds(WAIT_SECONDS)))));
    }

    /**
     * Returns SQS's time, or this machine's if the response does not show it: a client of the application may not pass
     * it on.
     */
    private Instant at(ReceiveMessageResponse response) {
        try {
            return Optional.ofNullable(response.sdkHttpResponse())
                    .flatMap(http -> http.firstMatchingHeader(DATE))
                    .map(date -> Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date)))
                    .orElseGet(clock::instant);
        } catch (DateTimeParseException other) {
            return clock.instant();
        }
    }

    private String url() {
        String known = url;
        if (known == null) {
            known = request(() -> client().getQueueUrl(look -> look.queueName(name())
                            .queueOwnerAWSAccountId(arn.accountId().orElse(null))
                            .overrideConfiguration(limits(LONGEST_REQUEST))))
                    .queueUrl();
            url = known;
        }
        return known;
    }

    private SqsAsyncClient client() {
        return source.client();
    }

    private static AwsRequestOverrideConfiguration limits(Duration longest) {
        return AwsRequestOverrideConfiguration.builder().apiCallTimeout(longest).build();
    }

    private static <T> T request(Supplier<CompletableFuture<T>> sent) {
        return sent.get().join();
    }

    private static String name(RuntimeException failure) {
        return Causes.unwrap(failure).getClass().getSimpleName();
    }
}
