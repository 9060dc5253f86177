package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.listener.method.ListenerMethod;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Warns at startup of listeners that share a queue or a scope with different settings. SQS delivers a message to any
 * listener of its queue, and redelivers it to any other: one with another scope, or one that claims no keys, handles it
 * again. The first listener of a scope that claims a key in doubt decides on it. A handler with {@code effects =
 * DATABASE} does not exclude one with {@code EXTERNAL} from its key, and is rolled back. Listeners of other
 * applications are not detected.
 */
public final class SharedQueues implements ApplicationListener<ContextRefreshedEvent> {

    private static final Logger log = LoggerFactory.getLogger(SharedQueues.class);

    /** Before the numbers of listeners to which the application gives no id. */
    private static final String GENERATED = "io.awspring.cloud.sqs.sqsListenerEndpointContainer#";

    private final List<Listener> listeners = new CopyOnWriteArrayList<>();

    /** A listener on one of its queues. */
    private record Listener(String id, String queue, String scope, boolean claims, ExactlyOnceListener annotation) {}

    /** Warns if a listener disagrees with an earlier one, on the same queue or of the same scope. */
    public void add(String id, Collection<String> queues, ListenerMethod method) {
        for (String queue : queues) {
            String name = name(queue);
            String scope = method.scope() == null ? name : method.scope();
            Listener added = new Listener(id, name, scope, !method.isObserved(), method.annotation());
            first(other -> other.queue().equals(name)).ifPresent(first -> compareOnQueue(first, added));
            first(other -> other.scope().equals(scope)).ifPresent(first -> compareInScope(first, added));
            listeners.add(added);
        }
    }

    /** Returns the ids of all listeners whose containers are made, but none that is generated: it changes with the code. */
    public Set<String> ids() {
        return listeners.stream()
                .map(Listener::id)
                .filter(id -> !id.startsWith(GENERATED))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private Optional<Listener> first(Predicate<Listener> wanted) {
        return listeners.stream().filter(wanted).findFirst();
    }

    /** Returns a queue's name, of which listeners may give the URL or the ARN. */
    public static String name(String queue) {
        return queue.substring(Math.max(queue.lastIndexOf('/'), queue.lastIndexOf(':')) + 1);
    }

    private static void compareOnQueue(Listener first, Listener added) {
        if (!first.scope().equals(added.scope())) {
            log.warn(
                    "Listener '{}' on queue '{}' has the scope '{}', but listener '{}' has '{}': a "
                            + "message that one has handled can be redelivered to the other, and is then handled "
                            + "again. Give both the same scope, or each its own queue",
                    added.id(),
                    added.queue(),
                    added.scope(),
                    first.id(),
                    first.scope());
        }
    }

    private static void compareInScope(Listener first, Listener added) {
        if (first.annotation().effects() != added.annotation().effects()) {
            log.warn(
                    "Listener '{}' of scope '{}' has effects = {}, but listener '{}' has {}: both may "
                            + "handle a key at once, and the one with DATABASE is then rolled back. Give both the "
                            + "same, or each its own scope",
                    added.id(),
                    added.scope(),
                    added.annotation().effects(),
                    first.id(),
                    first.annotation().effects());
        }
        if (first.annotation().whenInDoubt() != added.annotation().whenInDoubt()) {
            InDoubtPolicy own = added.annotation().whenInDoubt();
            log.warn(
                    "Listener '{}' of scope '{}' has whenInDoubt = {}, but listener '{}' has {}: the "
                            + "first that claims a key in doubt decides, so {} is not guaranteed. Give both the "
                            + "same, or each its own scope",
                    added.id(),
                    added.scope(),
                    own,
                    first.id(),
                    first.annotation().whenInDoubt(),
                    own == InDoubtPolicy.RERUN ? first.annotation().whenInDoubt() : own);
        }
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent refreshed) {
        ApplicationContext beans = refreshed.getApplicationContext();
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
                plain.getQueueNames().forEach(queue -> warn(plain.getId(), name(queue)));
            }
        }
    }

    private void warn(String plain, String queue) {
        first(other -> other.claims() && other.queue().equals(queue))
                .ifPresent(listener -> log.warn(
                        "Listener '{}' on queue '{}' claims no keys, but listener '{}' does: messages of the "
                                + "first are handled without a claim, perhaps for the second time. Make it an "
                                + "enforcing @ExactlyOnceListener, or give each its own queue",
                        plain,
                        queue,
                        listener.id()));
    }
}
