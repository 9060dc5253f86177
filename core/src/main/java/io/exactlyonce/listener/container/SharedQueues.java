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
 * Warns at start-up of listeners that share a queue or a scope and do not agree. SQS gives a message to any listener of its queue,
 * and its redelivery to any other: one with another scope, or one that claims no keys, handles it again. A key in doubt is decided on
 * by the first listener of its scope that meets it. A handler with {@code effects = DATABASE} does not keep one with {@code EXTERNAL}
 * from its key, and is rolled back. What other applications read is not seen.
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
                    "Listener '{}' on queue '{}' has the scope '{}', and listener '{}' has '{}': a message that was "
                            + "handled by one can be redelivered to the other, and is then handled again. Give both "
                            + "the same scope, or each a queue of its own",
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
                    "Listener '{}' of scope '{}' has effects = {}, and listener '{}' has {}: both may handle a key at once, and "
                            + "the one with DATABASE is rolled back then. Give both the same, or each a scope of its own",
                    added.id(),
                    added.scope(),
                    added.annotation().effects(),
                    first.id(),
                    first.annotation().effects());
        }
        if (first.annotation().whenInDoubt() != added.annotation().whenInDoubt()) {
            InDoubtPolicy own = added.annotation().whenInDoubt();
            log.warn(
                    "Listener '{}' of scope '{}' has whenInDoubt = {}, and listener '{}' has {}: a key in doubt is decided "
                            + "on by whichever comes first, so that {} holds for none. Give both the same, or each a "
                            + "scope of its own",
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
                        "Listener '{}' on queue '{}' claims no keys, and listener '{}' does: messages that the former gets are "
                                + "handled unclaimed, perhaps for the second time. Make it an @ExactlyOnceListener that enforces, "
                                + "too, or give each a queue of its own",
                        plain,
                        queue,
                        listener.id()));
    }
}
