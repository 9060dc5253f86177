package io.exactlyonce.dynamodb.model;

import io.exactlyonce.dynamodb.model.Item.Status;
import io.exactlyonce.dynamodb.model.Protocol.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Visits every reachable state in breadth-first order, until a rule is broken. */
final class Explorer {

    static final String EFFECT_HAPPENS_ONCE = "the effect happens once, and with the completion";
    static final String COMPLETED_STAYS = "a completed key stays completed";
    static final String IT_CAN_END = "without more faults the key can be completed";

    private final Set<Guard> missing;
    private final Map<State, Integer> known = new HashMap<>();
    private final List<State> states = new ArrayList<>();
    private final List<Integer> parents = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final List<List<Integer>> before = new ArrayList<>();

    /**
     * The result of an exploration.
     *
     * @param broken the broken rule, or empty
     * @param way the steps that break the rule
     */
    record Exploration(int states, String broken, List<String> way) {}

    private Explorer(Set<Guard> missing) {
        this.missing = missing;
    }

    static Exploration explore(Set<Guard> missing, int faults) {
        return new Explorer(missing).explore(State.initial(faults));
    }

    private Exploration explore(State initial) {
        find(initial, -1, "");
        for (int at = 0; at < states.size(); at++) {
            State state = states.get(at);
            for (Step step : Protocol.from(state, missing)) {
                String broken = broken(state, step);
                if (!broken.isEmpty()) {
                    List<String> way = way(at);
                    way.add(step.what());
                    return new Exploration(states.size(), broken, way);
                }
                int next = find(step.next().normal(), at, step.what());
                if (!step.isFault()) {
                    before.get(next).add(at);
                }
            }
        }
        int stuck = leadingToAnEnd().nextClearBit(0);
        return stuck < states.size()
                ? new Exploration(states.size(), IT_CAN_END, way(stuck))
                : new Exploration(states.size(), "", List.of());
    }

    private static String broken(State from, Step step) {
        State to = step.next();
        if (!step.breach().isEmpty()) {
            return step.breach();
        }
        if (from.item().status() == Status.COMPLETED && to.item().status() != Status.COMPLETED) {
            return COMPLETED_STAYS;
        }
        boolean completed = to.item().status() == Status.COMPLETED;
        return to.effects() > 1 || (completed && to.effects() == 0) ? EFFECT_HAPPENS_ONCE : "";
    }

    private int find(State state, int parent, String what) {
        Integer index = known.putIfAbsent(state, states.size());
        if (index != null) {
            return index;
        }
        states.add(state);
        parents.add(parent);
        names.add(what);
        before.add(new ArrayList<>());
        return states.size() - 1;
    }

    private BitSet leadingToAnEnd() {
        BitSet leading = new BitSet(states.size());
        Deque<Integer> open = new ArrayDeque<>();
        for (int at = 0; at < states.size(); at++) {
            if (states.get(at).isSettled()) {
                leading.set(at);
                open.add(at);
            }
        }
        while (!open.isEmpty()) {
            for (int at : before.get(open.remove())) {
                if (!leading.get(at)) {
                    leading.set(at);
                    open.add(at);
                }
            }
        }
        return leading;
    }

    private List<String> way(int last) {
        LinkedList<String> way = new LinkedList<>();
        for (int at = last; at > 0; at = parents.get(at)) {
            way.addFirst(names.get(at));
        }
        return way;
    }
}
