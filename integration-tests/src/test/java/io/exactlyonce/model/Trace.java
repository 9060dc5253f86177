package io.exactlyonce.model;

import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;

/**
 * Records the predecessor through which each state was first reached. Returns the path to a state, with the names of
 * workers and messages that hold along the path.
 */
final class Trace {

    private final Protocol protocol;
    private final List<Integer> parents = new ArrayList<>();

    Trace(Protocol protocol) {
        this.protocol = protocol;
    }

    void add(int parent) {
        parents.add(parent);
    }

    List<String> to(List<State> states, int last) {
        return told(way(states, last));
    }

    /** Returns the path to a state that follows another state. */
    List<String> to(List<State> states, int at, State last) {
        LinkedList<State> way = way(states, at);
        way.add(last);
        return told(way);
    }

    private LinkedList<State> way(List<State> states, int last) {
        LinkedList<State> way = new LinkedList<>();
        for (int at = last; at >= 0; at = parents.get(at)) {
            way.addFirst(states.get(at));
        }
        return way;
    }

    private List<String> told(List<State> way) {
        List<String> told = new ArrayList<>();
        State actual = way.get(0);
        for (State next : way.subList(1, way.size())) {
            Step step = protocol.from(actual).stream()
                    .filter(each -> Symmetry.areSame(each.next(), next))
                    .findFirst()
                    .orElseThrow();
            told.add(step.what());
            actual = step.next();
        }
        return told;
    }
}
