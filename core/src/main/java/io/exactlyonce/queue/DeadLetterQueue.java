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
 * Shows the messages of a dead-letter queue, and sends chosen messages back to the listener's queue. The methods block
 * until SQS has answered. Each method sends one request at a time, and each request takes a few seconds at most.
 *
 * <p>A chosen message is first copied to the listener's queue, and then deleted from the dead-letter queue. If the
 * process crashes in between, both queues have the message. That does no harm: both messages have the same key, so only
 * one of them is handled. The opposite order could lose the message.
 *
 * <p>SQS counts each lookup of a message as a receive. A dead-letter queue that has a dead-letter queue of its own is
 * not read, because enough lookups would move its messages there.
 */
public final class DeadLetterQueue {

    private static final Logger log = LoggerFactory.getLogger(DeadLetterQueue.class);

    /** SQS's limit on the messages of one request. */
    private static final int MOST = 10;

    /** SQS's limit on the attributes of a message. */
    private static final int MOST_ATTRIBUTES = 10;

    /** A search ends after this many receives. Each returns up to ten messages, so about 500 are searched. */
    private static final int MOST_RECEIVES = 50;

    /**
     * How long a search hides received messages from other consumers. When the search ends, it makes them visible
     * again. If the process crashes, they stay hidden for this time.
     */
    private static final int SEARCH_SECONDS = 60;

    /**
     * How long a receive waits for messages. Without a wait, SQS queries only some of its servers, and may return
     * nothing although the queue has a few messages.
     */
    private static final int WAIT_SECONDS = 1;

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(5);

    /**
     * A search ends after half of {@link #SEARCH_SECONDS}. Until then, all messages that it has received stay hidden,
     * so it receives none of them twice.
     */
    private static final Duration LONGEST_SEARCH = Duration.ofSeconds(SEARCH_SECONDS / 2);

    /**
     * A message of a FIFO queue can be sent back only when it is older than this. SQS drops a message whose
     * deduplication ID was used in the last five minutes. One more minute covers differences between clocks.
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
     * @param approximateCount number of messages in the whole queue; {@code null} if SQS did not return it
     * @param at when the messages were read, by SQS's clock if it is known, or else by this machine's clock
     * @param obstacle why the queue was not read; {@code null} if it was read
     */
    public record Look(
            List<Message> messages,
            @Nullable Long approximateCount,
            Instant at,
            @Nullable String obstacle) {}

    /**
     * The result for a chosen message.
     *
     * @param isSent whether SQS confirmed the copy in the listener's queue
     * @param newMessageId the copy's id; {@code null} if SQS did not confirm the copy
     * @param problem why the message was not sent, or not deleted afterwards; {@code null} if both succeeded
     * @param isRefused whether the problem is a failed request to SQS
     */
    public record Redriven(
            String messageId,
            boolean isSent,
            @Nullable String newMessageId,
            @Nullable String problem,
            boolean isRefused) {}

    /**
     * The result of a search for chosen messages.
     *
     * @param redriven one item for each chosen message that was found
     * @param failure the failed receive that ended the search early; {@code null} if no receive failed
     * @param obstacle why the queue was not searched; {@code null} if it was searched
     */
    public record Search(
            List<Redriven> redriven,
            @Nullable RuntimeException failure,
            @Nullable String obstacle) {}

    /**
     * Returns the dead-letter queue of a listener's queue.
     *
     * @return {@code null} if there is none, or if the queue's attributes were not read
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

    /**
     * Returns up to ten messages, which stay visible to other consumers. If the queue has a dead-letter queue of its
     * own, returns no messages and the reason.
     */
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

    private static @Nullable String obstacle(QueueAttributes attributes) {
        QueueAttributes.Redrive next = attributes.redrive();
        return next == null ? null : MOVED.formatted(next.name());
    }

    /**
     * Searches this dead-letter queue for chosen messages, and sends up to ten of them back to the listener's queue. At
     * the end, makes all other received messages visible again. Searches nothing if this queue has a dead-letter queue,
     * too, because each receive brings messages closer to that one.
     *
     * @param chosen returns whether to send a message back
     * @param isDone returns whether all chosen messages have been found, so that the search ends
     * @return one item for each chosen message that was found, even if a later request fails
     */
    public Search redrive(Predicate<Message> chosen, BooleanSupplier isDone) {
        String obstacle = obstacle(attributes());
        if (obstacle != null) {
            return new Search(List.of(), null, obstacle);
        }
        List<Redriven> redriven = new ArrayList<>();
        // Receipt handles by message ID. Whole messages are not kept, because hundreds of bodies of 1 MiB would fill
        // the memory.
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

    /**
     * Sends a message back. If an earlier message of the same FIFO group could not be sent, this message is not sent
     * either, so that the group keeps its order. Earlier messages that came from another queue are ignored.
     */
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
     * Returns why a message cannot be sent back; {@code null} if it can.
     *
     * @param now the time by SQS's clock
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

    /** Returns whether another listener's queue has the same dead-letter queue. */
    public boolean isSharedWith(DeadLetterQueue other) {
        return arn.equals(other.arn);
    }

    /**
     * Returns whether a message came from another queue than the listener's. This can happen if several queues share a
     * dead-letter queue. Returns false if the message's origin is not known.
     */
    public boolean isOfAnotherQueue(Message message) {
        String came = cameFrom(message);
        return came != null && QueueAddress.configured(came).differsFrom(QueueAddress.of(source));
    }

    private static @Nullable String cameFrom(Message message) {
        return message.attributes().get(MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN);
    }

    /**
     * Returns whether a copy of the message would lose its key. A copy has another message ID. If the key is the
     * message ID, the copy needs an attribute for the key, and SQS permits only ten attributes.
     */
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

    /**
     * Returns a time that SQS has recorded for a message, such as when it was sent; {@code null} if SQS did not return
     * it.
     */
    public static @Nullable Instant time(Message message, MessageSystemAttributeName name) {
        try {
            return Instant.ofEpochMilli(
                    Long.parseLong(message.attributesAsStrings().getOrDefault(name.toString(), "")));
        } catch (NumberFormatException absent) {
            return null;
        }
    }

    /**
     * Copies a message for the listener's queue. If the key is the message's ID, the copy gets an attribute with the
     * key, because SQS gives the copy a new ID.
     */
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

    /**
     * Makes messages visible again. If that fails, they become visible by themselves after {@link #SEARCH_SECONDS}.
     */
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
     * Returns the {@code Date} header of SQS's response. If a wrapper of the SQS client removes the header, returns
     * this machine's time.
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
