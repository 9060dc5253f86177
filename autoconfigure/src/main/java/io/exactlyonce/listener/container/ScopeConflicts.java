package io.exactlyonce.listener.container;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Effects;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The scopes of the listeners on each queue, and the listeners of each scope. SQS gives a message to any listener of its queue,
 * and its redelivery to any other listener: with another scope, that listener would handle it again. A key in doubt is
 * decided on by the first listener of its scope that meets it. A handler with {@code effects = DATABASE} does not keep one with
 * {@code EXTERNAL} from its key, and is rolled back.
 */
public final class ScopeConflicts {

    private static final Logger log = LoggerFactory.getLogger(ScopeConflicts.class);

    private final Map<String, Listener> firstOnQueue = new ConcurrentHashMap<>();
    private final Map<String, Listener> firstInScope = new ConcurrentHashMap<>();

    /** Warns if a listener disagrees with an earlier one, on the same queue or of the same scope. */
    public void add(
            String listener,
            Collection<String> queues,
            @Nullable String scope,
            AbandonedPolicy onAbandoned,
            Effects effects) {
        for (String queue : queues) {
            String name = name(queue);
            Listener added = new Listener(listener, scope == null ? name : scope, onAbandoned, effects);
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
        if (first != null && first.effects() != added.effects()) {
            log.warn(
                    "Listener '{}' of scope '{}' has effects = {}, and listener '{}' has {}: both may handle a key at once, and "
                            + "the one with DATABASE is rolled back then. Give both the same, or each a scope of its own",
                    added.id(),
                    added.scope(),
                    added.effects(),
                    first.id(),
                    first.effects());
        }
        if (first != null && first.onAbandoned() != added.onAbandoned()) {
            log.warn(
                    "Listener '{}' of scope '{}' has onAbandoned = {}, and listener '{}' has {}: a key in doubt is decided "
                            + "on by whichever comes first, so that {} holds for none. Give both the same, or each a "
                            + "scope of its own",
                    added.id(),
                    added.scope(),
                    added.onAbandoned(),
                    first.id(),
                    first.onAbandoned(),
                    added.onAbandoned() == AbandonedPolicy.RERUN ? first.onAbandoned() : added.onAbandoned());
        }
    }

    private record Listener(String id, String scope, AbandonedPolicy onAbandoned, Effects effects) {}
}
