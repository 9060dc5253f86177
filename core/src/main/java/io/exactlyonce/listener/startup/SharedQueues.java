package io.exactlyonce.listener.startup;

import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.exactlyonce.delivery.SubscriptionCheck;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerMethod;
import io.exactlyonce.visibility.QueueAddress;
import io.exactlyonce.visibility.SqsQueue;
import io.exactlyonce.visibility.Subscription;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Compares the listeners of an application that share a queue or a scope. Two queues of one name fail startup: their
 * listeners have one scope by default, and the messages of one queue would be deleted as duplicates of the other's.
 * Listeners share keys across queues only if both set {@code scope}.
 *
 * <p>Warns of listeners that share a queue or a scope with different settings. SQS delivers a message to any listener
 * of its queue, and redelivers it to any other: one with another scope, or one that claims no keys, handles it again.
 * Listeners of other applications are not detected.
 *
 * <p>Queues are compared twice: by the text of their listeners when containers are made, and by region, account and
 * server when containers start, since only then their clients have been asked. Listeners in observe mode are compared by
 * their first message.
 */
@Order(Ordered.HIGHEST_PRECEDENCE) // Before checks that remember a subscription.
public final class SharedQueues implements SubscriptionCheck, ApplicationListener<ContextRefreshedEvent> {

    private static final Logger log = LoggerFactory.getLogger(SharedQueues.class);

    /** Before the numbers of listeners to which the application gives no id. */
    private static final String GENERATED = "io.awspring.cloud.sqs.sqsListenerEndpointContainer#";

    private final List<ListenedQueue> listened = new CopyOnWriteArrayList<>();

    /**
     * Adds the queues of a container that is made.
     *
     * @throws InvalidListenerException if the listener would share keys with one of another queue unseen
     */
    public void add(String id, Collection<String> queues, ListenerMethod method) {
        for (String queue : queues) {
            ListenedQueue added = ListenedQueue.configured(id, queue, method);
            listened.forEach(other -> requireOwnKeys(other, added));
            first(other -> other.scope().equals(added.scope())).ifPresent(first -> first.compareInScope(added));
            listened.add(added);
        }
    }

    /** Observed listeners fail nothing, as long as no enforced listener depends on their keys. */
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
        log.warn("It is only observed; with mode = enforce startup would fail: {}", refused.getMessage());
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

    /** Containers start in parallel: of two, the second one meets the first. */
    private synchronized void found(String id, QueueAddress address, String url) {
        listened.stream()
                .filter(own -> own.id().equals(id) && !own.address().differsFrom(address))
                .max(Comparator.comparing(ListenedQueue::isFound).thenComparing(ListenedQueue::hasRegion))
                .ifPresent(known -> compare(known, known.at(address, url)));
    }

    private void compare(ListenedQueue known, ListenedQueue found) {
        List<ListenedQueue> others = new ArrayList<>(listened);
        others.remove(known);
        others.forEach(other -> other.requireOwnKeys(found));
        if (!known.isFound()) {
            others.stream()
                    .filter(other -> other.isFound() && !other.address().differsFrom(found.address()))
                    .findFirst()
                    .ifPresent(first -> first.compareOnQueue(found));
        }
        listened.set(listened.indexOf(known), found);
    }

    /** Returns the ids of all listeners whose containers are made, but none that is generated: it changes with the code. */
    public Set<String> ids() {
        return listened.stream()
                .map(ListenedQueue::id)
                .filter(id -> !id.startsWith(GENERATED))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private Optional<ListenedQueue> first(Predicate<ListenedQueue> wanted) {
        return listened.stream().filter(wanted).findFirst();
    }

    /** Containers have started before the event; a child context's event comes earlier. */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent refreshed) {
        ApplicationContext beans = refreshed.getApplicationContext();
        if (!beans.getBeansOfType(SharedQueues.class, false, false).containsValue(this)) {
            return;
        }
        Set<MessageListenerContainer<?>> containers = new HashSet<>();
        beans.getBeansOfType(MessageListenerContainer.class, false, false)
                .values()
                .forEach(containers::add);
        beans.getBeanProvider(MessageListenerContainerRegistry.class)
                .forEach(registry -> containers.addAll(registry.getListenerContainers()));
        for (MessageListenerContainer<?> container : containers) {
            if (container instanceof AbstractMessageListenerContainer<?, ?, ?> plain
                    && first(other -> other.claims() && other.id().equals(plain.getId()))
                            .isEmpty()) {
                plain.getQueueNames().forEach(queue -> warn(plain.getId(), queue));
            }
        }
    }

    private void warn(String plain, String queue) {
        QueueAddress address = QueueAddress.configured(queue);
        first(other -> other.claims() && !other.address().differsFrom(address))
                .ifPresent(listener -> log.warn(
                        "Listener '{}' on queue '{}' claims no keys, but listener '{}' on queue '{}' does: if they are one "
                                + "queue, messages of the first are handled without a claim, perhaps for the second time. "
                                + "Make it an enforcing @ExactlyOnceListener, or give each its own queue; name queues of "
                                + "several regions, accounts or servers by their URLs",
                        plain,
                        queue,
                        listener.id(),
                        listener.place()));
    }
}
