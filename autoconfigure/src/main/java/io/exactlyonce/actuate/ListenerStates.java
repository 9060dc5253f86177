package io.exactlyonce.actuate;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/** What each running listener is doing, by what is told of it. */
public final class ListenerStates implements DeliveryObserver {

    private final Map<Subscription, State> states = new ConcurrentHashMap<>();

    /**
     * One listener on one queue.
     *
     * @param subscription as it was last read
     * @param inFlight deliveries that are neither deleted nor returned nor abandoned yet
     * @param waiting those of them that wait for their key's holder, or for the store
     * @param pausedBy the ways to claim on which there is no answer; empty while it polls
     */
    public record State(Subscription subscription, int inFlight, int waiting, Set<String> pausedBy) {

        State on(Subscription revised) {
            return new State(revised, inFlight, waiting, pausedBy);
        }

        State inFlight(int change) {
            return new State(subscription, inFlight + change, waiting, pausedBy);
        }

        State waiting(int deliveries) {
            return new State(subscription, inFlight, deliveries, pausedBy);
        }

        State paused(String way, boolean paused) {
            Set<String> ways = new TreeSet<>(pausedBy);
            if (paused) {
                ways.add(way);
            } else {
                ways.remove(way);
            }
            return new State(subscription, inFlight, waiting, Set.copyOf(ways));
        }
    }

    @Override
    public void subscribed(Subscription subscription) {
        states.compute(
                subscription,
                (key, state) -> state == null ? new State(subscription, 0, 0, Set.of()) : state.on(subscription));
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        states.remove(subscription);
    }

    @Override
    public void inFlight(Subscription subscription, int change) {
        states.computeIfPresent(subscription, (key, state) -> state.inFlight(change));
    }

    @Override
    public void waiting(Subscription subscription, int deliveries) {
        states.computeIfPresent(subscription, (key, state) -> state.waiting(deliveries));
    }

    @Override
    public void pollingPaused(Subscription subscription, String way, boolean paused) {
        states.computeIfPresent(subscription, (key, state) -> state.paused(way, paused));
    }

    /** Returns all that run, by listener and queue. */
    public List<State> all() {
        return states.values().stream()
                .sorted(Comparator.comparing(
                                (State state) -> state.subscription().listener())
                        .thenComparing(state -> state.subscription().queue()))
                .toList();
    }
}
