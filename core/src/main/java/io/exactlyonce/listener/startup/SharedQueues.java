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
 * Finds listeners of an application that share a queue or a scope in a dangerous way.
 *
 * <p>For example, two queues in different regions may have the same name. Their listeners then have the same scope by
 * default, and messages of one queue would be deleted as duplicates of the other queue's messages. So startup fails,
 * unless both listeners set {@code scope}.
 *
 * <p>Smaller differences are logged at WARN. For example, two listeners of one queue may have different scopes. If a
 * message is redelivered to the other listener, it is handled again. {@link PlainListeners} checks listeners that claim
 * no keys. Listeners of other applications are not detected.
 *
 * <p>Queues are compared twice. When a container is made, only the queues' names or URLs in the annotation are known.
 * When the container starts, its client has found the queues. Then regions, accounts and servers are compared, too. In
 * observe mode, this second comparison takes place at a queue's first message.
 */
@Order(Ordered.HIGHEST_PRECEDENCE) // Runs before checks that remember a subscription.
public final class SharedQueues implements SubscriptionCheck {

    private static final Logger log = LoggerFactory.getLogger(SharedQueues.class);

    private final ListenerRegistry listeners;

    /** @param listeners collects the exactly-once listeners of the application */
    public SharedQueues(ListenerRegistry listeners) {
        this.listeners = listeners;
    }

    /**
     * Adds the queues of a new container, and compares them with the queues of earlier containers.
     *
     * @throws InvalidListenerException if the listener would share keys with a listener of another queue by mistake
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

    /**
     * Checks that two listeners do not share keys by mistake. If both listeners are in observe mode, a problem is only
     * logged, because observed listeners never fail startup.
     */
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

    /**
     * Compares a listener's queue with the queues of other listeners. Called when the queue's attributes have been
     * read, before any message is received.
     */
    @Override
    public void require(Subscription subscription) {
        if (subscription.visibility() instanceof SqsQueue queue) {
            found(subscription.listener(), QueueAddress.of(queue), queue.queueUrl());
        }
    }

    /**
     * Returns a check for the queues of an observed listener. The check gets a queue's URL. If another queue's messages
     * could have the same keys, the check throws an {@link InvalidListenerException}.
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
     * Compares a queue with other queues when a client has found its address. Synchronized, because containers start in
     * parallel, and each queue must be compared with all earlier ones.
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
