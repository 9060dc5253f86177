package io.exactlyonce.listener.startup;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The application's exactly-once listeners with their queues. Each listener is added when its container is made. */
public final class ListenerRegistry {

    /**
     * Spring Cloud AWS gives each listener without an ID this text and a number as its ID. The number may change with
     * the application's code.
     */
    private static final String GENERATED = "io.awspring.cloud.sqs.sqsListenerEndpointContainer#";

    private final List<ListenedQueue> queues = new CopyOnWriteArrayList<>();

    void add(ListenedQueue added) {
        queues.add(added);
    }

    /** Replaces a queue when the listener's client has found its full address. */
    void replace(ListenedQueue named, ListenedQueue found) {
        queues.set(queues.indexOf(named), found);
    }

    Optional<ListenedQueue> first(Predicate<ListenedQueue> wanted) {
        return queues.stream().filter(wanted).findFirst();
    }

    List<ListenedQueue> all() {
        return List.copyOf(queues);
    }

    List<ListenedQueue> allBut(ListenedQueue one) {
        List<ListenedQueue> others = new ArrayList<>(queues);
        others.remove(one);
        return others;
    }

    /** Returns the IDs that the application itself gives to its listeners, sorted. */
    public Set<String> ids() {
        return queues.stream()
                .map(ListenedQueue::id)
                .filter(id -> !id.startsWith(GENERATED))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
