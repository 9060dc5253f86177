package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.method.ListenerMethod;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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

    private final Map<String, Listener> firstOnQueue = new ConcurrentHashMap<>();
    private final Map<String, Listener> firstInScope = new ConcurrentHashMap<>();
    private final Map<String, String> claiming = new ConcurrentHashMap<>();
    private final Set<String> claimingIds = ConcurrentHashMap.newKeySet();

    private record Listener(String id, String scope, ExactlyOnceListener says) {}

    /** Warns if a listener disagrees with an earlier one, on the same queue or of the same scope. */
    public void add(String id, Collection<String> queues, ListenerMethod method) {
        for (String queue : queues) {
            String name = name(queue);
            if (!method.isObserved()) {
                claiming.putIfAbsent(name, id);
                claimingIds.add(id);
            }
            Listener added = new Listener(id, method.scope() == null ? name : method.scope(), method.says());
            addToQueue(name, added);
            addToScope(added);
        }
    }

    /** Returns a queue's name, of which listeners may give the URL or the ARN. */
    public static String name(String queue) {
        return queue.substring(Math.max(queue.lastIndexOf('/'), queue.lastIndexOf(':')) + 1);
    }

    private void addToQueue(String queue, Listener added) {
        Listener first = firstOnQueue.putIfAbsent(queue, added);
        if (first != null && !first.scope().equals(added.scope())) {
            log.warn(
                    "Listener '{}' on queue '{}' has the scope '{}', and listener '{}' has '{}': a message that was "
                            + "handled by one can be redelivered to the other, and is then handled again. Give both "
                            + "the same scope, or each a queue of its own",
                    added.id(),
                    queue,
                    added.scope(),
                    first.id(),
                    first.scope());
        }
    }

    private void addToScope(Listener added) {
        Listener first = firstInScope.putIfAbsent(added.scope(), added);
        if (first != null && first.says().effects() != added.says().effects()) {
            log.warn(
                    "Listener '{}' of scope '{}' has effects = {}, and listener '{}' has {}: both may handle a key at once, and "
                            + "the one with DATABASE is rolled back then. Give both the same, or each a scope of its own",
                    added.id(),
                    added.scope(),
                    added.says().effects(),
                    first.id(),
                    first.says().effects());
        }
        if (first != null && first.says().onAbandoned() != added.says().onAbandoned()) {
            AbandonedPolicy own = added.says().onAbandoned();
            log.warn(
                    "Listener '{}' of scope '{}' has onAbandoned = {}, and listener '{}' has {}: a key in doubt is decided "
                            + "on by whichever comes first, so that {} holds for none. Give both the same, or each a "
                            + "scope of its own",
                    added.id(),
                    added.scope(),
                    own,
                    first.id(),
                    first.says().onAbandoned(),
                    own == AbandonedPolicy.RERUN ? first.says().onAbandoned() : own);
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
                    && !claimingIds.contains(plain.getId())) {
                plain.getQueueNames().forEach(queue -> warn(plain.getId(), name(queue)));
            }
        }
    }

    private void warn(String plain, String queue) {
        String listener = claiming.get(queue);
        if (listener != null) {
            log.warn(
                    "Listener '{}' on queue '{}' claims no keys, and listener '{}' does: messages that the former gets are "
                            + "handled unclaimed, perhaps for the second time. Make it an @ExactlyOnceListener that enforces, "
                            + "too, or give each a queue of its own",
                    plain,
                    queue,
                    listener);
        }
    }
}
