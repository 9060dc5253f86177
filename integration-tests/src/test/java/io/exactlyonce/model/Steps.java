package io.exactlyonce.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Collects the next steps of one worker, or of the world around it, under the guards that are not removed. */
final class Steps {

    /** Length of visibility timeouts and leases; renewed with one tick left. */
    static final int TICKS = 2;

    private final Mode mode;
    private final Set<Guard> missing;
    private final int allFaults;
    private final List<Step> all = new ArrayList<>();

    /** @param allFaults how many may happen from the beginning on */
    Steps(Mode mode, Set<Guard> missing, int allFaults) {
        this.mode = mode;
        this.missing = missing;
        this.allFaults = allFaults;
    }

    Mode mode() {
        return mode;
    }

    boolean has(Guard guard) {
        return !missing.contains(guard);
    }

    boolean lacks(Guard guard) {
        return missing.contains(guard);
    }

    void add(int who, String what, State next) {
        all.add(new Step(name(who) + " " + what, false, next, null));
    }

    /** Adds a step that keeps the rule only if this holds. */
    void add(int who, String what, State next, boolean kept, String rule) {
        all.add(new Step(name(who) + " " + what, false, next, kept ? null : rule));
    }

    void timePasses(State next) {
        all.add(new Step("time passes", false, next, null));
    }

    /** An earlier try of a claim arrives; its answer reaches no worker. */
    void arrivesLate(State next, boolean kept, String rule) {
        all.add(new Step("an earlier try of a claim arrives", false, next, kept ? null : rule));
    }

    /** An operator looks at the parked key, or decides on it. */
    void operator(String what, State next, boolean kept) {
        all.add(new Step("an operator " + what, false, next, kept ? null : Rules.OPERATOR_DECIDES_ON_WHAT_IT_SAW));
    }

    /** SQS moves a message to the dead-letter queue, also one of other content than its key was completed for, or
     * whose handler threw. */
    void giveUp(int which, State next) {
        boolean kept = next.faults() < allFaults || mode == Mode.OTHER_CONTENT || mode == Mode.LIMITED;
        all.add(new Step("SQS gives message %d up".formatted(which), false, next, kept ? null : Rules.NONE_GIVEN_UP));
    }

    /** Adds a fault, if one more may happen. */
    void fault(int who, String what, State next) {
        if (next.faults() > 0) {
            all.add(new Step("FAULT " + name(who) + " " + what, true, next.afterFault(), null));
        }
    }

    List<Step> all() {
        return all;
    }

    private static String name(int who) {
        return who == 0 ? "A" : "B";
    }
}
