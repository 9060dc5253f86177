package io.exactlyonce.model;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Visits every reachable state in breadth-first order, until a rule is broken. */
final class Explorer {

    private final Mode mode;
    private final Protocol protocol;
    private final Map<State, Integer> known = new HashMap<>();
    private final List<State> states = new ArrayList<>();
    private final Ways ways = new Ways();
    private final Trace trace;
    private long steps;

    private Explorer(Mode mode, Set<Guard> missing, Bounds bounds) {
        this.mode = mode;
        this.protocol = new Protocol(mode, missing, bounds.faults());
        this.trace = new Trace(protocol);
    }

    /**
     * Explores the protocol.
     *
     * @param missing guards that are left out
     */
    static Exploration explore(Mode mode, Set<Guard> missing, Bounds bounds) {
        return new Explorer(mode, missing, bounds).explore(State.initial(mode, bounds));
    }

    private Exploration explore(State initial) {
        find(initial, -1);
        for (int at = 0; at < states.size(); at++) {
            State state = states.get(at);
            for (Step step : protocol.from(state)) {
                steps++;
                String broken = Rules.broken(state, step, mode);
                if (broken != null) {
                    return new Exploration(states.size(), steps, broken, trace.to(states, at, step.next()));
                }
                int next = find(Symmetry.normal(step.next()), at);
                if (!step.fault()) {
                    ways.add(at, next);
                }
            }
        }
        int stuck = ways.leadingTo(ends(), states.size()).nextClearBit(0);
        return stuck >= states.size()
                ? new Exploration(states.size(), steps, "", List.of())
                : new Exploration(states.size(), steps, Rules.IT_CAN_END, trace.to(states, stuck));
    }

    private int find(State state, int parent) {
        Integer index = known.putIfAbsent(state, states.size());
        if (index != null) {
            return index;
        }
        states.add(state);
        trace.add(parent);
        return states.size() - 1;
    }

    private BitSet ends() {
        BitSet ends = new BitSet(states.size());
        for (int at = 0; at < states.size(); at++) {
            ends.set(at, states.get(at).isSettled());
        }
        return ends;
    }
}
