package io.exactlyonce.model;

import io.exactlyonce.model.Message.Place;
import io.exactlyonce.model.Worker.Phase;

/** Steps that happen to workers: receipts, renewals, time, crashes and pauses. */
final class WorldMoves {

    private WorldMoves() {}

    static void collect(State state, Steps steps) {
        for (int which = 0; which < State.MESSAGES; which++) {
            Message message = state.message(which);
            if (message.isVisible() && message.receives() == 0) {
                steps.giveUp(which, state.with(which, message.gone(Place.DEAD_LETTER_QUEUE)));
            }
        }
        if (state.late() != 0) {
            ClaimMoves.arriveLate(state, steps);
        }
        if (steps.mode() == Mode.PARK || steps.mode() == Mode.LIMITED) {
            OperatorMoves.collect(state, steps);
        }
        tick(state, steps);
    }

    static void collect(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        if (worker.phase() == Phase.IDLE) {
            receive(state, who, steps);
        } else {
            renewLease(state, who, steps);
            renewWindow(state, who, steps);
        }
    }

    private static void receive(State state, int who, Steps steps) {
        for (int which = 0; which < State.MESSAGES; which++) {
            Message message = state.message(which);
            if (message.isVisible() && message.receives() > 0) {
                int lease = message.transactional() ? 0 : Steps.TICKS;
                State received = state.with(which, message.received(who, Steps.TICKS))
                        .with(who, Worker.receiving(which, state.newClaim(), Steps.TICKS, lease));
                steps.add(who, "receives message %d and asks for its key".formatted(which), received);
            }
        }
    }

    /** Renews a lease, even after its expiry. Only the store knows whether another worker has taken the key over. */
    private static void renewLease(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        if (state.isTransactional(who) || !worker.phase().renewsLease() || worker.lease() == Steps.TICKS) {
            return;
        }
        boolean ours = state.row().isHeldBy(worker.claim());
        boolean blind = state.row().status() == Row.Status.HELD && steps.lacks(Guard.RENEWAL_NAMES_ITS_CLAIM);
        if (ours || blind) {
            State renewed = state.with(state.row().leased(Steps.TICKS));
            State known = renewed.with(who, worker.times(worker.window(), Steps.TICKS));
            steps.add(who, "renews its lease", known, ours, Rules.STALE_WRITES_CHANGE_NOTHING);
            steps.fault(who, "renews its lease, and loses the reply", failing(renewed, who));
        } else if (worker.lease() > 0) {
            steps.add(who, "is told: lease lost", state.with(who, worker.times(worker.window(), 0)));
        }
        steps.fault(who, "cannot renew its lease", failing(state, who));
    }

    private static State failing(State state, int who) {
        return state.with(who, state.worker(who).failing(true, state.worker(who).windowFails()))
                .with(state.history().disturb());
    }

    private static void renewWindow(State state, int who, Steps steps) {
        Worker worker = state.worker(who);
        boolean over = worker.window() == 0;
        if (worker.window() == Steps.TICKS || (over && steps.has(Guard.WINDOW_RENEWED_WITHIN_THE_WINDOW))) {
            return;
        }
        Message message = state.messageOf(who);
        boolean there = message.place() == Place.QUEUE;
        State known = state.with(who, worker.times(Steps.TICKS, worker.lease()));
        State renewed = there ? known.with(worker.message(), message.hiddenFor(Steps.TICKS)) : known;
        boolean ours = !there || message.receiver() == who;
        steps.add(who, "renews its window", renewed, ours, Rules.MESSAGE_IS_ITS_NEWEST_RECEIVERS);
        steps.fault(who, "cannot renew its window", state.with(who, worker.failing(worker.leaseFails(), true)));
    }

    /**
     * A healthy worker does everything in time. Time therefore passes only if no worker has something urgent to do, or
     * if a worker is paused.
     */
    private static void tick(State state, Steps steps) {
        if (state.isInAHurry(0) || state.isInAHurry(1)) {
            return;
        }
        State later = state.with(state.row().leased(less(state.row().lease())))
                .with(0, tick(state.first()))
                .with(1, tick(state.second()))
                .with(0, tick(state.left()))
                .with(1, tick(state.right()));
        if (!later.equals(state)) {
            steps.timePasses(later);
        }
    }

    private static Message tick(Message message) {
        return message.hiddenFor(less(message.hidden()));
    }

    /** A worker without an answer repeats the request as time passes, so its lease always counts from the present. */
    private static Worker tick(Worker worker) {
        int lease = worker.phase() == Phase.CLAIMING ? worker.lease() : less(worker.lease());
        return worker.times(less(worker.window()), lease).failing(false, false);
    }

    private static int less(int ticks) {
        return Math.max(0, ticks - 1);
    }
}
