package io.exactlyonce.actuate;

import static io.exactlyonce.actuate.KeyDecisions.CONFLICT;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.boundary.RedactedException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.queue.DeadLetterQueue;
import io.exactlyonce.queue.DeadLetterQueue.Redriven;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/** Shows a listener's dead letters without deleting them. Also sends chosen ones back to the listener's queue. */
final class DeadLetters {

    static final int BAD_GATEWAY = 502;

    /** Limit of a request: at most ten messages, or the hashes of ten keys. */
    static final int MOST = 10;

    private static final Logger log = LoggerFactory.getLogger(DeadLetters.class);

    private static final int LONGEST_TEXT = 600;

    private static final String NO_QUEUE = "no queue of this listener has a dead-letter queue that this instance knows";

    private final @Nullable ParkedClaims claims;
    private final InstantSource clock;

    /** @param claims the parked claims; {@code null} if the store cannot list them */
    DeadLetters(@Nullable ParkedClaims claims, InstantSource clock) {
        this.claims = claims;
        this.clock = clock;
    }

    /** The dead letters of a listener, by queue. */
    record Shown(String listener, List<ShownQueue> queues) implements OperationResponseBody {}

    /**
     * Up to ten messages of a dead-letter queue.
     *
     * @param source the listener's queue, from which the messages came
     * @param approximateCount about how many messages the dead-letter queue has; {@code null} if unknown
     * @param reason why the dead-letter queue could not be read; {@code null} if it was read
     */
    record ShownQueue(
            String queue,
            String source,
            @Nullable Long approximateCount,
            List<ShownMessage> messages,
            @Nullable String reason) {}

    /**
     * A dead letter. If the key of a message cannot be read, its scope, hashes and key are {@code null}.
     *
     * @param key the key; masked if the caller may not see keys
     * @param receiveCount how often the message was received from the dead-letter queue. Each look at the list counts
     *     as a receive
     * @param group the message group (FIFO and fair queues); masked if the caller may not see keys, because group names
     *     are often customer ids
     * @param isRedrivable whether the message can be sent back now
     * @param reason explains the problem: the message cannot be sent back, or its key cannot be read. {@code null} if
     *     there is no problem
     * @param claim the claim of the message's key, which often explains the failure; {@code null} if no claim was found
     *     or read
     */
    record ShownMessage(
            String messageId,
            @Nullable String scope,
            @Nullable String keyHash,
            @Nullable String key,
            @Nullable String downstreamKey,
            @Nullable Integer receiveCount,
            @Nullable Instant sentAt,
            @Nullable Instant firstReceivedAt,
            @Nullable String group,
            boolean isRedrivable,
            @Nullable String reason,
            @Nullable ShownClaim claim) {}

    /** The response to a request that redrives chosen messages. */
    record Redrives(List<Back> redriven, List<Left> notRedriven) implements OperationResponseBody {}

    /**
     * A message that was sent back to the listener's queue.
     *
     * @param queue the listener's queue
     * @param reason why the message could not be deleted from the dead-letter queue; {@code null} if it was deleted
     */
    record Back(
            String messageId,
            @Nullable String keyHash,
            String queue,
            @Nullable String newMessageId,
            @Nullable String reason) {}

    /** A message that was not redriven. Contains the message's id, the hash of its key, or both. */
    record Left(@Nullable String messageId, @Nullable String keyHash, String reason) {}

    /** A listener's queue and its dead-letter queue. */
    private record Source(Subscription subscription, SqsQueue queue, DeadLetterQueue dead) {

        /** Returns the message's {@link ClaimKey}. If the key cannot be read, returns a sentence that explains why. */
        Object key(Message message) {
            try {
                var key = queue.keys().of(message);
                return new ClaimKey(key.scope(), key.key());
            } catch (RuntimeException unusable) {
                log.debug("A dead letter of {} has no usable key", subscription, RedactedException.of(unusable));
                return "it cannot be read, or has no usable key (%s)"
                        .formatted(unusable.getClass().getSimpleName());
            }
        }
    }

    private List<Source> sources(List<Subscription> subscriptions) {
        List<Source> sources = new ArrayList<>();
        for (Subscription subscription : subscriptions) {
            if (subscription.visibility() instanceof SqsQueue queue) {
                DeadLetterQueue dead = DeadLetterQueue.of(queue, clock);
                if (dead != null) {
                    sources.add(new Source(subscription, queue, dead));
                }
            }
        }
        return sources;
    }

    /**
     * Shows up to ten messages of each dead-letter queue.
     *
     * @param shown masks keys that the caller may not see
     */
    WebEndpointResponse<OperationResponseBody> show(
            String listener, List<Subscription> subscriptions, UnaryOperator<String> shown) {
        List<Source> sources = sources(subscriptions);
        if (sources.isEmpty()) {
            return Refused.of(CONFLICT, NO_QUEUE);
        }
        List<ShownQueue> queues =
                sources.stream().map(source -> show(source, sources, shown)).toList();
        return new WebEndpointResponse<>(
                new Shown(listener, queues),
                queues.stream().allMatch(queue -> queue.reason() != null)
                        ? BAD_GATEWAY
                        : WebEndpointResponse.STATUS_OK);
    }

    private ShownQueue show(Source source, List<Source> sources, UnaryOperator<String> shown) {
        String name = source.dead().name();
        String queue = source.subscription().queue();
        try {
            DeadLetterQueue.Look look = source.dead().look();
            return new ShownQueue(
                    name,
                    queue,
                    look.approximateCount(),
                    look.messages().stream()
                            .filter(message -> !belongsToAnother(source, sources, message))
                            .map(message -> show(source, message, look.at(), shown))
                            .toList(),
                    look.obstacle());
        } catch (RuntimeException failure) {
            log.debug("Dead letters of {} could not be read", source.subscription(), PrintableException.of(failure));
            return new ShownQueue(
                    name,
                    queue,
                    null,
                    List.of(),
                    "SQS did not return messages (%s); allow sqs:ReceiveMessage, sqs:GetQueueUrl and sqs:GetQueueAttributes on the dead-letter queue"
                            .formatted(Causes.unwrap(failure).getClass().getSimpleName()));
        }
    }

    private ShownMessage show(Source source, Message message, Instant now, UnaryOperator<String> shown) {
        Object read = source.key(message);
        ClaimKey key = read instanceof ClaimKey usable ? usable : null;
        String obstacle = source.dead().obstacle(message, now);
        Map<String, String> attributes = message.attributesAsStrings();
        String group = attributes.get(MessageSystemAttributeName.MESSAGE_GROUP_ID.toString());
        return new ShownMessage(
                message.messageId(),
                key == null ? null : key.scope(),
                key == null ? null : key.keyHash(),
                key == null ? null : shown.apply(key.key()),
                key == null ? null : key.downstreamKey(),
                number(attributes.get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT.toString())),
                DeadLetterQueue.time(message, MessageSystemAttributeName.SENT_TIMESTAMP),
                DeadLetterQueue.time(message, MessageSystemAttributeName.APPROXIMATE_FIRST_RECEIVE_TIMESTAMP),
                group == null ? null : shown.apply(group),
                obstacle == null,
                obstacle != null ? obstacle : key == null ? String.valueOf(read) : null,
                key == null ? null : claim(key));
    }

    private static @Nullable Integer number(@Nullable String text) {
        return text != null && text.matches("\\d{1,9}") ? Integer.valueOf(text) : null;
    }

    private @Nullable ShownClaim claim(ClaimKey key) {
        try {
            return claims == null
                    ? null
                    : claims.details(key).map(ShownClaim::of).orElse(null);
        } catch (RuntimeException failure) {
            log.debug("The claim of the dead letter of {} could not be read", key, PrintableException.of(failure));
            return null;
        }
    }

    /**
     * Redrives chosen messages.
     *
     * @param asking the name of the caller, which is logged
     * @param ids ids of messages; hashes of keys if {@code areHashes} is true
     */
    WebEndpointResponse<OperationResponseBody> redrive(
            String asking,
            String listener,
            List<Subscription> subscriptions,
            Set<String> ids,
            boolean areHashes,
            String reason) {
        List<Source> sources = sources(subscriptions);
        if (sources.isEmpty()) {
            return Refused.of(CONFLICT, NO_QUEUE);
        }
        List<Back> back = new ArrayList<>();
        List<Left> left = new ArrayList<>();
        Set<String> missing = new LinkedHashSet<>(ids);
        Map<String, @Nullable String> found = new HashMap<>();
        Set<String> obstacles = new LinkedHashSet<>();
        boolean isRefused = false;
        try {
            for (Source source : sources) {
                isRefused |= redrive(source, sources, missing, areHashes, found, back, left, obstacles);
            }
            String why = found.size() >= MOST
                    ? "ten other messages were found first; repeat the request"
                    : !obstacles.isEmpty()
                            ? String.join("; ", obstacles)
                            : "it was not found among the messages that SQS returned; another consumer may have it at the"
                                    + " moment";
            for (String id : missing) {
                left.add(areHashes ? new Left(null, id, why) : new Left(id, null, why));
            }
        } finally {
            log.warn(
                    "{} asked to redrive {} chosen dead letters of listener '{}', because \"{}\": {} redriven, {} not",
                    asking,
                    ids.size(),
                    listener,
                    OneLine.of(reason, LONGEST_TEXT),
                    back.size(),
                    left.size());
            back.forEach(each -> log.info(
                    "{} redrove the dead letter {} to {} as {}",
                    asking,
                    OneLine.of(each.messageId(), LONGEST_TEXT),
                    each.queue(),
                    OneLine.of(String.valueOf(each.newMessageId()), LONGEST_TEXT)));
        }
        return new WebEndpointResponse<>(
                new Redrives(back, left), isRefused ? BAD_GATEWAY : WebEndpointResponse.STATUS_OK);
    }

    /**
     * Searches one dead-letter queue for the chosen messages, and redrives those that it finds.
     *
     * <p>The search stops when all chosen messages are found. If messages are chosen by the hashes of their keys,
     * several messages can have the same key. So the search also stops after {@link #MOST} messages, counted over all
     * queues of the request.
     *
     * @param missing ids or hashes for which no message was found yet. This method removes those that it finds
     * @param found collects the messages that were found in all queues. The keys of the map are the messages' ids, and
     *     its values are the hashes of the messages' keys
     * @param obstacles collects sentences that explain why a queue was not searched
     * @return true if the search failed, or if SQS rejected a request
     */
    private static boolean redrive(
            Source source,
            List<Source> others,
            Set<String> missing,
            boolean areHashes,
            Map<String, @Nullable String> found,
            List<Back> back,
            List<Left> left,
            Set<String> obstacles) {
        BooleanSupplier isDone = () -> missing.isEmpty() || found.size() >= MOST;
        if (isDone.getAsBoolean()) {
            return false;
        }
        Set<String> wanted = Set.copyOf(missing);
        DeadLetterQueue.Search search;
        try {
            search = source.dead()
                    .redrive(
                            message -> {
                                String id = areHashes ? hash(source, message) : message.messageId();
                                if (found.size() >= MOST
                                        || id == null
                                        || !wanted.contains(id)
                                        || belongsToAnother(source, others, message)) {
                                    return false;
                                }
                                missing.remove(id);
                                found.put(message.messageId(), areHashes ? id : hash(source, message));
                                return true;
                            },
                            isDone);
        } catch (RuntimeException failure) {
            search = new DeadLetterQueue.Search(List.of(), failure, null);
        }
        if (search.failure() != null) {
            log.warn(
                    "Dead letters of {} could not be redriven: {}",
                    source.subscription(),
                    PrintableException.reason(search.failure()));
        }
        if (search.obstacle() != null) {
            obstacles.add("the dead-letter queue '%s' was not searched: %s"
                    .formatted(source.dead().name(), search.obstacle()));
        }
        List<Redriven> redriven = search.redriven();
        for (Redriven each : redriven) {
            String id = each.messageId();
            String hash = found.get(id);
            String problem = each.problem();
            if (each.isSent()) {
                back.add(new Back(id, hash, source.subscription().queue(), each.newMessageId(), problem));
            } else {
                left.add(new Left(id, hash, String.valueOf(problem)));
            }
        }
        return search.failure() != null || redriven.stream().anyMatch(Redriven::isRefused);
    }

    /**
     * Returns true if the message came from another queue of the listener. Two queues can share a dead-letter queue.
     * This class then searches the dead-letter queue twice, but must show or redrive each message only once.
     */
    private static boolean belongsToAnother(Source source, List<Source> sources, Message message) {
        return source.dead().isOfAnotherQueue(message)
                && sources.stream()
                        .map(Source::dead)
                        .anyMatch(other -> other.isSharedWith(source.dead()) && !other.isOfAnotherQueue(message));
    }

    private static @Nullable String hash(Source source, Message message) {
        return source.key(message) instanceof ClaimKey key ? key.keyHash() : null;
    }
}
