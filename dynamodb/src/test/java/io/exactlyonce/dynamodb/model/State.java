package io.exactlyonce.dynamodb.model;

import java.util.ArrayList;
import java.util.List;

/**
 * The state of the whole system at one moment.
 *
 * @param stray the claim whose transaction is still in progress although its worker has crashed or stopped; 0 if there
 *     is none
 * @param effects how often the handler's effect has happened
 * @param faults how many more faults may happen
 */
record State(Item item, Worker left, Worker right, int stray, int effects, int faults) {

    static final int WORKERS = 2;

    static State initial(int faults) {
        return new State(Item.ABSENT, Worker.IDLE, Worker.IDLE, 0, 0, faults);
    }

    Worker worker(int who) {
        return who == 0 ? left : right;
    }

    State with(int who, Worker next) {
        return who == 0
                ? new State(item, next, right, stray, effects, faults)
                : new State(item, left, next, stray, effects, faults);
    }

    /** Returns the state with a new version of the item. No worker has seen this version. */
    State with(Item next) {
        return new State(next, left.unaware(), right.unaware(), stray, effects, faults);
    }

    /** Returns the state with a changed item that has the same version as before. */
    State withUnmarked(Item next) {
        return new State(next, left, right, stray, effects, faults);
    }

    State withStray(int claim) {
        return new State(item, left, right, claim, effects, faults);
    }

    /** Returns a claim name that is not in use. */
    int newClaim() {
        int name = 1;
        while (name == item.claim() || name == left.claim() || name == right.claim() || name == stray) {
            name++;
        }
        return name;
    }

    State withEffect() {
        return new State(item, left, right, stray, effects + 1, faults);
    }

    State afterFault() {
        return new State(item, left, right, stray, effects, faults - 1);
    }

    State later() {
        return new State(item.later(), left.later(), right.later(), stray, effects, faults);
    }

    /** Renames the claims in the order of their places, so that states that differ only in names become equal. */
    State normal() {
        List<Integer> names = new ArrayList<>(List.of(0));
        return new State(
                item.named(name(item.claim(), names)),
                left.named(name(left.claim(), names)),
                right.named(name(right.claim(), names)),
                name(stray, names),
                effects,
                faults);
    }

    private static int name(int claim, List<Integer> names) {
        if (!names.contains(claim)) {
            names.add(claim);
        }
        return names.indexOf(claim);
    }

    boolean isSettled() {
        return item.status() == Item.Status.COMPLETED;
    }
}
