package io.exactlyonce.chaos.history;

import org.jspecify.annotations.Nullable;

/**
 * A fault from before it began until after it was over.
 *
 * @param end absent if it was never over
 */
record FaultSpan(Fault fault, Event begin, @Nullable Event end) {

    boolean hits(String worker) {
        return begin.worker().isEmpty() || begin.worker().equals(worker);
    }

    /** Returns whether it was on, or had just been, at some time from one event to another. */
    boolean touches(Event from, Event to, long recoveryMicros) {
        if (begin.order() > to.order()) {
            return false;
        }
        if (end == null || end.order() > from.order()) {
            return true;
        }
        return fault.hitsDatabase() && end.micros() + recoveryMicros >= from.micros();
    }

    /**
     * Returns whether it may have undone something that was committed between two events, as a later event sees it.
     */
    boolean mayHaveForgotten(Event from, Event to, Event later, long exposureMicros) {
        return fault == Fault.FAILOVER
                && begin.is(Detail.ASYNCHRONOUS)
                && begin.order() < later.order()
                && to.micros() + exposureMicros >= begin.micros()
                && (end == null || from.order() < end.order());
    }
}
