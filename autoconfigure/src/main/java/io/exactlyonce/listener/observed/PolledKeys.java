package io.exactlyonce.listener.observed;

import io.awspring.cloud.sqs.listener.interceptor.AsyncMessageInterceptor;
import io.exactlyonce.listener.message.PolledMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.observed.NotObserved;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.observed.ObservedQueue;
import io.exactlyonce.observed.ObservedRun;
import io.exactlyonce.visibility.VisibilityWindow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * Reads the keys of a container's messages, and begins their runs. As the container's first interceptor it reads messages as they were
 * polled, as they are read where keys are claimed. Whatever is wrong with a message, nothing is thrown.
 */
final class PolledKeys<T> implements AsyncMessageInterceptor<T> {

    /** How runs begin whose messages are on their way to their listener on this thread, by receipt. */
    private static final ThreadLocal<@Nullable Map<String, Supplier<@Nullable ObservedRun>>> POLLED =
            new ThreadLocal<>();

    private final ContainerSettings settings;
    private final ObservedClaims claims;
    private final ObservedQueue unknownQueue;
    private final VisibilityWindow lease;

    /**
     * @param unknownQueue for messages whose queue is not known
     * @param lease of claims, unless leases are configured
     */
    PolledKeys(ContainerSettings settings, ObservedClaims claims, ObservedQueue unknownQueue, VisibilityWindow lease) {
        this.settings = settings;
        this.claims = claims;
        this.unknownQueue = unknownQueue;
        this.lease = lease;
    }

    @Override
    public CompletableFuture<Message<T>> intercept(Message<T> message) {
        polled(List.of(message));
        return CompletableFuture.completedFuture(message);
    }

    @Override
    public CompletableFuture<Collection<Message<T>>> intercept(Collection<Message<T>> messages) {
        polled(messages);
        return CompletableFuture.completedFuture(messages);
    }

    private void polled(Collection<Message<T>> messages) {
        Map<String, Supplier<@Nullable ObservedRun>> read = new HashMap<>();
        for (Message<T> message : messages) {
            PolledMessage.fromAwspring(message)
                    .ifPresent(known -> read.put(known.source().receiptHandle(), read(message, known)));
        }
        POLLED.set(read);
    }

    /** Key expressions and converters are the application's. */
    private Supplier<@Nullable ObservedRun> read(Message<T> message, PolledMessage polled) {
        ObservedQueue queue = new ObservedQueue(unknownQueue.listener(), polled.queue());
        try {
            ObservedRun run = settings.observed(queue, message, polled, lease);
            return () -> {
                claims.begin(run);
                return run;
            };
        } catch (RuntimeException unusable) {
            return () -> {
                claims.notObserved(queue, NotObserved.KEY, unusable);
                return null;
            };
        }
    }

    /** A handler is about to be called with messages. Returns the run of each; {@code null} for one that is not observed. */
    List<@Nullable ObservedRun> begin(Collection<Message<T>> messages) {
        Map<String, Supplier<@Nullable ObservedRun>> known = POLLED.get();
        POLLED.remove();
        List<@Nullable ObservedRun> runs = new ArrayList<>(messages.size());
        for (Message<T> message : messages) {
            runs.add(begin(message, known == null ? Map.of() : known));
        }
        return runs;
    }

    /** Reads a key late where an interceptor has changed the thread. */
    private @Nullable ObservedRun begin(Message<T> message, Map<String, Supplier<@Nullable ObservedRun>> known) {
        PolledMessage polled = PolledMessage.fromAwspring(message).orElse(null);
        if (polled == null) {
            claims.notObserved(unknownQueue, NotObserved.MESSAGE, null);
            return null;
        }
        Supplier<@Nullable ObservedRun> read = known.get(polled.source().receiptHandle());
        return (read == null ? read(message, polled) : read).get();
    }
}
