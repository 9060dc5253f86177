package io.exactlyonce.chaos.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All faults of a run. */
final class Faults {

    private final List<FaultSpan> spans;

    private Faults(List<FaultSpan> spans) {
        this.spans = spans;
    }

    /** Pairs each end with the start of the same fault of the same worker. */
    static Faults of(List<Event> events) {
        Map<String, Event> running = new HashMap<>();
        List<FaultSpan> spans = new ArrayList<>();
        for (Event event : events) {
            String identity = event.detail(Detail.FAULT) + " " + event.worker();
            if (event.kind() == Kind.FAULT_BEGAN) {
                running.put(identity, event);
            } else if (event.kind() == Kind.FAULT_ENDED) {
                Event begin = running.remove(identity);
                if (begin != null) {
                    spans.add(new FaultSpan(faultOf(begin), begin, event));
                }
            }
        }
        running.values().forEach(begin -> spans.add(new FaultSpan(faultOf(begin), begin, null)));
        return new Faults(spans);
    }

    private static Fault faultOf(Event event) {
        return Fault.valueOf(event.detail(Detail.FAULT));
    }

    long count(Fault fault) {
        return spans.stream().filter(span -> span.fault() == fault).count();
    }

    /** Returns a fault by which a worker may have lost its claims at some time between two events. */
    Optional<FaultSpan> costingClaims(String worker, Event from, Event to, long recoveryMicros) {
        return spans.stream()
                .filter(span -> span.fault().costsClaims() && span.hits(worker))
                .filter(span -> span.touches(from, to, recoveryMicros))
                .findFirst();
    }

    /** Returns a failover that may have undone a commit between two events, from the view of a later event. */
    Optional<FaultSpan> forgetting(Event from, Event to, Event later, long exposureMicros) {
        return spans.stream()
                .filter(span -> span.mayHaveForgotten(from, to, later, exposureMicros))
                .findFirst();
    }
}
