package io.exactlyonce.listener;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The scopes of the listeners on each queue. SQS gives a message to any of them, and its redelivery to any other: with
 * another scope, that one would handle it again.
 */
final class QueueScopes {

    private static final Logger log = LoggerFactory.getLogger(QueueScopes.class);

    private final Map<String, Listener> firsts = new ConcurrentHashMap<>();

    /** Warns if a listener on one of these queues has another scope than an earlier one. */
    void add(String listener, Collection<String> queues, @Nullable String scope) {
        for (String queue : queues) {
            String name = queue.substring(Math.max(queue.lastIndexOf('/'), queue.lastIndexOf(':')) + 1);
            Listener added = new Listener(listener, scope == null ? name : scope);
            Listener first = firsts.putIfAbsent(name, added);
            if (first != null && !first.scope().equals(added.scope())) {
                log.warn(
                        "Listener '{}' on queue '{}' has the scope '{}', and listener '{}' has '{}': a message that was "
                                + "handled by one can be redelivered to the other, and is then handled again. Give both "
                                + "the same scope, or each a queue of its own",
                        listener,
                        name,
                        added.scope(),
                        first.id(),
                        first.scope());
            }
        }
    }

    private record Listener(String id, String scope) {}
}
