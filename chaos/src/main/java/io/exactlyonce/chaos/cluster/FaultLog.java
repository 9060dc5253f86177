package io.exactlyonce.chaos.cluster;

import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Fault;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Recorder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Records the start and the end of each fault, and counts faults. */
public final class FaultLog {

    private static final String ALL_WORKERS = "";

    private final Recorder recorder;
    private final Map<Fault, AtomicInteger> counts = new ConcurrentHashMap<>();

    public FaultLog(Recorder recorder) {
        this.recorder = recorder;
    }

    /** Records that a fault is about to start. */
    public void began(Fault fault, String worker) {
        record(Event.of(Kind.FAULT_BEGAN).by(worker).with(Detail.FAULT, fault));
    }

    /** Records that a fault of all workers is about to start. */
    public void began(Fault fault) {
        began(fault, ALL_WORKERS);
    }

    /**
     * Records that a failover is about to start. From now on, commits may be missing on the server that is promoted.
     */
    public void beganFailover(boolean asynchronous) {
        record(Event.of(Kind.FAULT_BEGAN).with(Detail.FAULT, Fault.FAILOVER).with(Detail.ASYNCHRONOUS, asynchronous));
    }

    /** Records that a fault is over. */
    public void ended(Fault fault, String worker) {
        record(Event.of(Kind.FAULT_ENDED).by(worker).with(Detail.FAULT, fault));
        counts.computeIfAbsent(fault, any -> new AtomicInteger()).incrementAndGet();
    }

    /** Records that a fault of all workers is over. */
    public void ended(Fault fault) {
        ended(fault, ALL_WORKERS);
    }

    /** Records another event of the harness. */
    public void record(Event event) {
        recorder.record(event);
    }

    /** Returns how many faults of a kind are over. */
    public int count(Fault fault) {
        AtomicInteger count = counts.get(fault);
        return count == null ? 0 : count.get();
    }
}
