package io.exactlyonce.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Collects the next steps of one worker or of its environment, under the guards that are not removed. */
final class Steps {

    /** The length of visibility timeouts and leases. Workers renew them when one tick is left. */
    static final int TICKS = 2;

    private final Mode mode;
    private final Set<Guard> missing;
    private final int allFaults;
    private final List<Step> all = new ArrayList<>();

    /** @param allFaults the most faults that may happen in total */
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

    /** Adds a step that breaks the rule unless {@code kept} is true. */
    void add(int who, String what, State next, boolean kept, String rule) {
        all.add(new Step(name(who) + " " + what, false, next, kept ? null : rule));
    }

    void timePasses(State next) {
        all.add(new Step("time passes", false, next, null));
    }

    /** An earlier try of a claim arrives. No worker gets its answer. */
    void arrivesLate(State next, boolean kept, String rule) {
        all.add(new Step("an earlier try of a claim arrives", false, next, kept ? null : rule));
    }

    /** An operator looks the parked key up, or decides on it. */
    void operator(String what, State next, boolean kept) {
        all.add(new Step("an operator " + what, false, next, kept ? null : Rules.OPERATOR_DECIDES_ON_WHAT_IT_SAW));
    }

    /**
     * SQS moves a message to the dead-letter queue. The key may be completed for other content, or the handler may have
     * thrown.
     */
    void giveUp(int which, State next) {
        boolean kept = next.faults() < allFaults || mode == Mode.OTHER_CONTENT || mode == Mode.LIMITED;
        all.add(new Step("SQS gives message %d up".formatted(which), false, next, kept ? null : Rules.NONE_GIVEN_UP));
    }

    /** Adds a fault if one more fault may happen. */
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
