package io.exactlyonce.chaos.cluster;

import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Fault;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Recorder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Records the begin and the end of each fault, and counts them. */
public final class FaultLog {

    private static final String ALL_WORKERS = "";

    private final Recorder recorder;
    private final Map<Fault, AtomicInteger> counts = new ConcurrentHashMap<>();

    public FaultLog(Recorder recorder) {
        this.recorder = recorder;
    }

    /** A fault is about to begin. */
    public void began(Fault fault, String worker) {
        record(Event.of(Kind.FAULT_BEGAN).by(worker).with(Detail.FAULT, fault));
    }

    /** A fault of all workers is about to begin. */
    public void began(Fault fault) {
        began(fault, ALL_WORKERS);
    }

    /** A failover is about to begin: from now on commits may be missing on the server that is promoted. */
    public void beganFailover(boolean asynchronous) {
        record(Event.of(Kind.FAULT_BEGAN).with(Detail.FAULT, Fault.FAILOVER).with(Detail.ASYNCHRONOUS, asynchronous));
    }

    /** A fault is over. */
    public void ended(Fault fault, String worker) {
        record(Event.of(Kind.FAULT_ENDED).by(worker).with(Detail.FAULT, fault));
        counts.computeIfAbsent(fault, any -> new AtomicInteger()).incrementAndGet();
    }

    /** A fault of all workers is over. */
    public void ended(Fault fault) {
        ended(fault, ALL_WORKERS);
    }

    /** Records something else that the harness did or saw. */
    public void record(Event event) {
        recorder.record(event);
    }

    /** Returns how many faults of a kind are over. */
    public int count(Fault fault) {
        AtomicInteger count = counts.get(fault);
        return count == null ? 0 : count.get();
    }
}
