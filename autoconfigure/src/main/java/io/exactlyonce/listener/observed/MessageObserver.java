package io.exactlyonce.listener.observed;

import io.exactlyonce.listener.message.PolledMessage;
import io.exactlyonce.listener.message.PolledMessage.FromAwspring;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.sighting.Observation;
import io.exactlyonce.sighting.ObservedClaims;
import io.exactlyonce.sighting.ObservedMessage;
import io.exactlyonce.sighting.ObservedQueue;
import io.exactlyonce.sighting.Unobserved;
import io.exactlyonce.visibility.VisibilityWindow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/** Reads the keys of a container's messages, and begins their observations. Whatever is wrong with a message, nothing is thrown. */
final class MessageObserver {

    /** What was read of messages on their way to their listener on this thread, by their receipts. */
    private static final ThreadLocal<@Nullable Map<String, Read>> POLLED = new ThreadLocal<>();

    private final ContainerSettings settings;
    private final ObservedClaims claims;
    private final ObservedQueue unknownQueue;
    private final VisibilityWindow lease;
    private final HandlerEnds ends;

    /** What a handler that returns says of its message. */
    interface HandlerEnds {

        /** Returns whether its work is done, and its message deleted: asked of each, for containers may be configured later on. */
        boolean areTold();
    }

    /**
     * What was read of a message: one of both.
     *
     * @param failure why it has no usable key
     */
    private record Read(
            @Nullable ObservedMessage message, @Nullable Throwable failure) {}

    /**
     * @param unknownQueue for messages of which not even the queue is known
     * @param lease of claims, unless leases are configured
     */
    MessageObserver(
            ContainerSettings settings,
            ObservedClaims claims,
            ObservedQueue unknownQueue,
            VisibilityWindow lease,
            HandlerEnds ends) {
        this.settings = settings;
        this.claims = claims;
        this.unknownQueue = unknownQueue;
        this.lease = lease;
        this.ends = ends;
    }

    /** Messages are on their way, as they were polled: interceptors have not seen them. */
    void polled(Collection<? extends Message<?>> messages) {
        Map<String, Read> read = new HashMap<>();
        for (Message<?> message : messages) {
            PolledMessage.fromAwspring(message)
                    .ifPresent(known -> read.put(known.receipt(), read(message, known.message())));
        }
        POLLED.set(read);
    }

    /** They are on their way no more. */
    void forget() {
        POLLED.remove();
    }

    /** A handler is about to be called with messages. */
    HandlerCall begin(Collection<? extends Message<?>> messages) {
        Map<String, Read> known = POLLED.get();
        POLLED.remove();
        List<Observation> observations = new ArrayList<>(messages.size());
        for (Message<?> message : messages) {
            observations.add(begin(message, known == null ? Collections.emptyMap() : known));
        }
        return new HandlerCall(observations, ends.areTold());
    }

    private Observation begin(Message<?> message, Map<String, Read> known) {
        FromAwspring source = PolledMessage.fromAwspring(message).orElse(null);
        if (source == null) {
            claims.notObserved(unknownQueue, Unobserved.MESSAGE, null);
            return Observation.NONE;
        }
        ObservedQueue queue =
                new ObservedQueue(unknownQueue.listener(), source.message().queue());
        Read earlier = known.get(source.receipt());
        Read read = earlier == null ? read(message, source.message()) : earlier;
        if (read.message() != null) {
            return claims.begin(queue, read.message());
        }
        claims.notObserved(queue, Unobserved.KEY, read.failure());
        return Observation.NONE;
    }

    /** Key expressions and converters are the application's. */
    private Read read(Message<?> message, PolledMessage known) {
        try {
            return new Read(settings.observed(message, known, lease), null);
        } catch (RuntimeException unusable) {
            return new Read(null, unusable);
        }
    }
}
