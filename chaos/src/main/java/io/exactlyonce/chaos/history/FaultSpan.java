package io.exactlyonce.chaos.history;

import org.jspecify.annotations.Nullable;

/**
 * A fault, from before its start until after its end.
 *
 * @param end null if the fault never ended
 */
record FaultSpan(Fault fault, Event begin, @Nullable Event end) {

    boolean hits(String worker) {
        return begin.worker().isEmpty() || begin.worker().equals(worker);
    }

    /** Returns whether the fault was on, or had just ended, at some time between two events. */
    boolean touches(Event from, Event to, long recoveryMicros) {
        if (begin.order() > to.order()) {
            return false;
        }
        if (end == null || end.order() > from.order()) {
            return true;
        }
        return fault.hitsDatabase() && end.micros() + recoveryMicros >= from.micros();
    }

    /** Returns whether the fault may have undone a commit between two events, from the view of a later event. */
    boolean mayHaveForgotten(Event from, Event to, Event later, long exposureMicros) {
        return fault == Fault.FAILOVER
                && begin.is(Detail.ASYNCHRONOUS)
                && begin.order() < later.order()
                && to.micros() + exposureMicros >= begin.micros()
                && (end == null || from.order() < end.order());
    }
}
