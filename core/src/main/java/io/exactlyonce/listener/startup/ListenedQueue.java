package io.exactlyonce.listener.startup;

import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerMethod;
import io.exactlyonce.queue.QueueAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.StringUtils;

/**
 * A listener and one of its queues. Finds conflicts with other listeners.
 *
 * @param place the queue's name, URL or ARN in the annotation. When the client has found the queue, this is the queue's
 *     URL
 * @param address the queue's account, region and server, as far as they are known
 * @param isFound whether the client has found the queue
 */
record ListenedQueue(String id, String place, QueueAddress address, boolean isFound, ListenerMethod method) {

    /** The logger of {@link SharedQueues}, which uses this class to compare listeners. */
    private static final Logger log = LoggerFactory.getLogger(SharedQueues.class);

    static ListenedQueue configured(String id, String place, ListenerMethod method) {
        return new ListenedQueue(id, place, QueueAddress.configured(place), false, method);
    }

    ListenedQueue at(QueueAddress found, String url) {
        return new ListenedQueue(id, url, found, true, method);
    }

    boolean hasRegion() {
        return address.region() != null;
    }

    boolean claims() {
        return !method.isObserved();
    }

    String scope() {
        return method.scopeOn(address.name());
    }

    /**
     * Checks that two listeners do not share keys by mistake. Listeners on different queues may have the same scope
     * only if both have set it.
     */
    void requireOwnKeys(ListenedQueue added) {
        boolean sharesByChance = scope().equals(added.scope())
                && (method.scope() == null || added.method.scope() == null)
                && address.differsFrom(added.address);
        if (sharesByChance) {
            throw new InvalidListenerException(
                    "%s and %s: %s, so they share keys, and messages of one would be deleted as duplicates of the other's"
                            .formatted(
                                    StringUtils.capitalize(toString()),
                                    added,
                                    address.name().equals(added.address.name())
                                            ? "these two queues have one name"
                                            : "the scope '%s' of one is the default of the other".formatted(scope())),
                    id.equals(added.id)
                            ? "give each queue a listener and a scope of its own; or set scope on this listener, if a key "
                                    + "means the same in both queues"
                            : "set scope on both listeners: two scopes, or one if a key means the same in both queues");
        }
    }

    /** Logs at WARN if another listener on the same queue has another scope. */
    void compareOnQueue(ListenedQueue added) {
        if (!scope().equals(added.scope())) {
            log.warn(
                    "Listener '{}' on queue '{}' has the scope '{}', but listener '{}' has '{}': a "
                            + "message that one has handled can be redelivered to the other, and is then handled "
                            + "again. Give both the same scope, or each its own queue",
                    added.id,
                    added.place,
                    added.scope(),
                    id,
                    scope());
        }
    }

    /**
     * Logs at WARN if another listener with the same scope has other values of {@code effects} or {@code whenInDoubt}.
     */
    void compareInScope(ListenedQueue added) {
        if (method.annotation().effects() != added.method.annotation().effects()) {
            log.warn(
                    "Listener '{}' of scope '{}' has effects = {}, but listener '{}' has {}: both may "
                            + "handle a key at once, and the one with DATABASE is then rolled back. Give both the "
                            + "same, or each its own scope",
                    added.id,
                    added.scope(),
                    added.method.annotation().effects(),
                    id,
                    method.annotation().effects());
        }
        InDoubtPolicy first = method.annotation().whenInDoubt();
        InDoubtPolicy own = added.method.annotation().whenInDoubt();
        if (first != own) {
            log.warn(
                    "Listener '{}' of scope '{}' has whenInDoubt = {}, but listener '{}' has {}: the "
                            + "first that claims a key in doubt decides, so {} is not guaranteed. Give both the "
                            + "same, or each its own scope",
                    added.id,
                    added.scope(),
                    own,
                    id,
                    first,
                    own == InDoubtPolicy.RERUN ? first : own);
        }
    }

    @Override
    public String toString() {
        return "listener '%s' (%s) on queue %s".formatted(id, method, place);
    }
}
