package io.exactlyonce.listener.startup;

import io.exactlyonce.delivery.SubscriptionCheck;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerMethod;
import io.exactlyonce.queue.QueueAddress;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Compares the listeners of an application that share a queue or a scope. Two queues of one name fail startup: their
 * listeners have the same scope by default, so messages of one queue would be deleted as duplicates of the other's.
 * Listeners share keys across queues only if both set {@code scope}.
 *
 * <p>Warns of listeners that share a queue or a scope with different settings. SQS delivers a message to any listener
 * of its queue, and redelivers it to any other: a listener with another scope handles it again. Listeners of other
 * applications are not detected. {@link PlainListeners} warns of listeners that claim no keys.
 *
 * <p>Queues are compared twice. When containers are made, the texts of their listeners are compared. When containers
 * start and their clients have found the queues, regions, accounts and servers are compared. Listeners in observe mode
 * are compared by their first message.
 */
@Order(Ordered.HIGHEST_PRECEDENCE) // Runs before checks that remember a subscription.
public final class SharedQueues implements SubscriptionCheck {

    private static final Logger log = LoggerFactory.getLogger(SharedQueues.class);

    private final ListenerRegistry listeners;

    /** @param listeners collects each listener that may share its queue or scope with others */
    public SharedQueues(ListenerRegistry listeners) {
        this.listeners = listeners;
    }

    /**
     * Adds the queues of a container that is made.
     *
     * @throws InvalidListenerException if the listener would unintentionally share keys with a listener of another
     *     queue
     */
    public void add(String id, Collection<String> queues, ListenerMethod method) {
        for (String queue : queues) {
            ListenedQueue added = ListenedQueue.configured(id, queue, method);
            listeners.all().forEach(other -> requireOwnKeys(other, added));
            listeners
                    .first(other -> other.scope().equals(added.scope()))
                    .ifPresent(first -> first.compareInScope(added));
            listeners.add(added);
        }
    }

    /** Requires separate keys. For two observed listeners only logs, because these never fail startup. */
    private static void requireOwnKeys(ListenedQueue other, ListenedQueue added) {
        try {
            other.requireOwnKeys(added);
        } catch (InvalidListenerException refused) {
            if (other.claims() || added.claims()) {
                throw refused;
            }
            logObserved(refused);
        }
    }

    private static void logObserved(InvalidListenerException refused) {
        log.warn(
                "Startup would fail with mode = enforce, and continues because the listener is only observed: {}",
                refused.getMessage());
    }

    /** Compares a queue whose attributes have been read, before its listener receives anything. */
    @Override
    public void require(Subscription subscription) {
        if (subscription.visibility() instanceof SqsQueue queue) {
            found(subscription.listener(), QueueAddress.of(queue), queue.queueUrl());
        }
    }

    /**
     * Returns a check of an observed listener's queues, by their URLs. The check throws an {@link
     * InvalidListenerException} for a queue whose keys must not be recorded.
     */
    public Consumer<String> observing(String id) {
        ConcurrentMap<String, Optional<InvalidListenerException>> known = new ConcurrentHashMap<>();
        return url -> {
            Optional<InvalidListenerException> refused = known.get(url);
            if (refused == null) {
                refused = known.computeIfAbsent(url, first -> refusal(id, first));
            }
            if (refused.isPresent()) {
                throw refused.get();
            }
        };
    }

    private Optional<InvalidListenerException> refusal(String id, String url) {
        try {
            found(id, QueueAddress.ofUrl(url), url);
            return Optional.empty();
        } catch (InvalidListenerException refused) {
            logObserved(refused);
            return Optional.of(refused);
        }
    }

    /**
     * Adds a queue that was found. Synchronized, because containers start in parallel: the second of two must see the
     * first.
     */
    private synchronized void found(String id, QueueAddress address, String url) {
        listeners.all().stream()
                .filter(own -> own.id().equals(id) && !own.address().differsFrom(address))
                .max(Comparator.comparing(ListenedQueue::isFound).thenComparing(ListenedQueue::hasRegion))
                .ifPresent(known -> compare(known, known.at(address, url)));
    }

    private void compare(ListenedQueue known, ListenedQueue found) {
        List<ListenedQueue> others = listeners.allBut(known);
        others.forEach(other -> other.requireOwnKeys(found));
        if (!known.isFound()) {
            others.stream()
                    .filter(other -> other.isFound() && !other.address().differsFrom(found.address()))
                    .findFirst()
                    .ifPresent(first -> first.compareOnQueue(found));
        }
        listeners.replace(known, found);
    }
}
