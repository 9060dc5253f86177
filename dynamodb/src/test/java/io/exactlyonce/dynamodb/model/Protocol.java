package io.exactlyonce.dynamodb.model;

import io.exactlyonce.dynamodb.model.Item.Status;
import io.exactlyonce.dynamodb.model.Worker.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The possible next steps. Two workers look up one key, claim it, renew their leases, and commit effect and
 * completion. Time passes at any moment, so each worker may pause for any time.
 */
final class Protocol {

    static final String HOLDER_KEEPS_ITS_KEY = "no key is taken from a holder whose lease goes on by its own count";
    static final String STALE_WRITES_CHANGE_NOTHING = "no transaction of a lost claim changes its successor's claim";

    private final Set<Guard> missing;
    private final List<Step> steps = new ArrayList<>();

    /**
     * A possible next step.
     *
     * @param breach the rule that the step itself breaks; empty if there is none
     */
    record Step(String what, boolean isFault, State next, String breach) {}

    private Protocol(Set<Guard> missing) {
        this.missing = missing;
    }

    static List<Step> from(State state, Set<Guard> missing) {
        Protocol protocol = new Protocol(missing);
        protocol.add("time passes", state.later());
        if (state.stray() != 0) {
            State arrived = protocol.committed(state, state.stray()).withStray(0);
            protocol.steps.add(new Step(
                    "a transaction arrives late", false, arrived, protocol.breach(state, arrived, state.stray())));
        }
        for (int who = 0; who < State.WORKERS; who++) {
            protocol.act(state, who);
        }
        return protocol.steps;
    }

    private void act(State state, int who) {
        Worker worker = state.worker(who);
        switch (worker.phase()) {
            case IDLE -> look(state, who);
            case CLAIMING -> claim(state, who);
            case HANDLING -> handle(state, who);
            case COMMITTING -> commit(state, who);
            case COMPLETING -> complete(state, who);
            case DONE -> {}
        }
        if (worker.phase() != Phase.IDLE && worker.phase() != Phase.DONE) {
            State crashed = state.with(who, Worker.IDLE);
            fault(name(who) + " crashes", crashed);
            if (worker.phase() == Phase.COMMITTING && state.stray() == 0) {
                fault(name(who) + " crashes, its transaction under way", crashed.withStray(worker.claim()));
            }
        }
    }

    private void look(State state, int who) {
        Item item = state.item();
        State looked = state.with(who, state.worker(who).looking());
        if (item.status() == Status.COMPLETED && has(Guard.COMPLETED_KEY_STAYS_COMPLETED)) {
            add(name(who) + " sees the completed key", state.with(who, Worker.IDLE.to(Phase.DONE)));
        } else if (item.status() != Status.HELD) {
            ask(looked, who);
        } else {
            add(name(who) + " sees the key held", looked);
            if (isOverByClock(item) || isOverByObservation(looked.worker(who))) {
                ask(looked, who);
            }
        }
    }

    /**
     * Front ends are exact or a tick ahead, and a measurement is exact or a tick wide. Within these limits, the reader
     * gets the values that are worst for the owner.
     */
    private boolean isOverByClock(Item item) {
        int ahead = 1;
        int width = 1;
        int seen = has(Guard.TAKEOVER_GOES_BY_THE_EARLIEST_TIME) ? ahead : ahead + width;
        int error = has(Guard.TAKEOVER_ALLOWS_FOR_THE_ERROR) ? Item.ERROR : 0;
        return item.end() == Item.UNKNOWN ? lacks(Guard.UNSOUND_TIME_DECIDES_NOTHING) : item.end() + error - seen <= 0;
    }

    private boolean isOverByObservation(Worker observer) {
        int needed = has(Guard.OBSERVATION_LASTS_A_WHOLE_LEASE) ? Item.LEASE : 0;
        return has(Guard.OBSERVATION_FREES_THE_KEY) && observer.seenFor() >= needed;
    }

    /** Adds claim requests with an exact time, with a time that is a tick wide, and without a time. */
    private void ask(State state, int who) {
        Worker worker = state.worker(who);
        int claim = state.newClaim();
        int wide = has(Guard.LEASE_ENDS_BY_THE_LATEST_TIME) ? Item.LEASE + 1 : Item.LEASE - 1;
        add(name(who) + " asks for the key", state.with(who, worker.claiming(claim, Item.LEASE)));
        add(name(who) + " asks for the key by a wide measurement", state.with(who, worker.claiming(claim, wide)));
        add(name(who) + " asks for the key without a time", state.with(who, worker.claiming(claim, Item.UNKNOWN)));
    }

    private void claim(State state, int who) {
        Worker worker = state.worker(who);
        Item item = state.item();
        boolean blind = lacks(Guard.TAKEOVER_NAMES_THE_VERSION) && item.status() == Status.HELD;
        if (!worker.sees() && !blind) {
            add(name(who) + " finds another version", state.with(who, Worker.IDLE));
            return;
        }
        Worker other = state.worker(1 - who);
        boolean taken = other.phase().holds() && other.lease() > 0 && item.isHeldBy(other.claim());
        State held = state.with(new Item(Status.HELD, worker.claim(), worker.end()));
        Worker holder = held.worker(who);
        steps.add(new Step(
                name(who) + " gets the key",
                false,
                held.with(who, holder.lease() > 0 ? holder.to(Phase.HANDLING) : Worker.IDLE),
                taken ? HOLDER_KEEPS_ITS_KEY : ""));
        fault(name(who) + " gets the key, and never learns of it", held.with(who, Worker.IDLE));
    }

    private void handle(State state, int who) {
        Worker worker = state.worker(who);
        if (worker.lease() < Item.LEASE) {
            renew(state, who);
        }
        if (has(Guard.EFFECT_HAPPENS_WITH_THE_COMPLETION)) {
            add(name(who) + " sends its transaction", state.with(who, worker.to(Phase.COMMITTING)));
        } else {
            add(name(who) + " has its effect", state.withEffect().with(who, worker.to(Phase.COMPLETING)));
        }
        State released =
                state.item().isHeldBy(worker.claim()) ? state.with(state.item().to(Status.RELEASED)) : state;
        fault(name(who) + " fails, and gives the key up", released.with(who, Worker.IDLE));
    }

    private void renew(State state, int who) {
        Worker worker = state.worker(who);
        if (!state.item().isHeldBy(worker.claim())) {
            add(name(who) + " learns that its claim is lost", state.with(who, Worker.IDLE));
            return;
        }
        for (int end : new int[] {Item.LEASE, Item.UNKNOWN}) {
            Item renewed = new Item(Status.HELD, worker.claim(), end);
            State written = has(Guard.RENEWAL_MAKES_A_VERSION) ? state.with(renewed) : state.withUnmarked(renewed);
            add(
                    name(who) + " renews its lease",
                    written.with(who, written.worker(who).renewed()));
            fault(name(who) + " renews its lease, and never learns of it", written);
        }
    }

    private void commit(State state, int who) {
        Worker worker = state.worker(who);
        State committed = committed(state, worker.claim());
        String breach = breach(state, committed, worker.claim());
        boolean done = committed.effects() > state.effects();
        steps.add(new Step(
                name(who) + (done ? " commits" : " is cancelled"),
                false,
                committed.with(who, done ? Worker.IDLE.to(Phase.DONE) : Worker.IDLE),
                breach));
        fault(
                name(who) + " hears nothing of its transaction, and sends another",
                committed.with(who, committed.worker(who).to(Phase.COMMITTING)));
        if (state.stray() == 0) {
            State released = state.item().isHeldBy(worker.claim())
                    ? state.with(state.item().to(Status.RELEASED))
                    : state;
            fault(
                    name(who) + " gives up while its transaction is under way",
                    released.with(who, Worker.IDLE).withStray(worker.claim()));
        }
    }

    /**
     * Returns the state after the transaction of a claim. If the transaction is cancelled, the state stays the same.
     */
    private State committed(State state, int claim) {
        Item item = state.item();
        boolean named = item.claim() == claim || lacks(Guard.TRANSACTION_NAMES_ITS_CLAIM);
        boolean held = item.status() == Status.HELD
                || (item.status() == Status.COMPLETED && lacks(Guard.TRANSACTION_ASKS_FOR_A_HELD_KEY));
        return named && held ? state.with(item.to(Status.COMPLETED)).withEffect() : state;
    }

    private String breach(State before, State after, int claim) {
        boolean stale = after.effects() > before.effects() && before.item().claim() != claim;
        return stale ? STALE_WRITES_CHANGE_NOTHING : "";
    }

    /**
     * Completes the key in a second request. This step exists only without {@link
     * Guard#EFFECT_HAPPENS_WITH_THE_COMPLETION}.
     */
    private void complete(State state, int who) {
        boolean ours = state.item().isHeldBy(state.worker(who).claim());
        State completed = ours ? state.with(state.item().to(Status.COMPLETED)) : state;
        add(name(who) + " completes", completed.with(who, Worker.IDLE));
    }

    private boolean has(Guard guard) {
        return !missing.contains(guard);
    }

    private boolean lacks(Guard guard) {
        return missing.contains(guard);
    }

    private void add(String what, State next) {
        steps.add(new Step(what, false, next, ""));
    }

    private void fault(String what, State next) {
        if (next.faults() > 0) {
            steps.add(new Step("FAULT " + what, true, next.afterFault(), ""));
        }
    }

    private static String name(int who) {
        return who == 0 ? "A" : "B";
    }
}
