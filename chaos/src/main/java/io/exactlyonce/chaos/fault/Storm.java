package io.exactlyonce.chaos.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A schedule that is on. */
public final class Storm {

    private final List<Thread> lanes = new ArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    private Storm() {}

    /** Begins all lanes. */
    public static Storm begin(Schedule schedule, Targets targets) {
        Storm storm = new Storm();
        schedule.lanes().forEach(lane -> storm.begin(lane, targets));
        return storm;
    }

    private void begin(FaultSequence lane, Targets targets) {
        Thread thread = new Thread(() -> run(lane, targets), lane.name());
        thread.setDaemon(true);
        lanes.add(thread);
        thread.start();
    }

    private void run(FaultSequence lane, Targets targets) {
        try {
            lane.run(targets, end);
        } catch (Exception e) {
            failure.compareAndSet(null, e);
        }
    }

    /** Returns whether no more faults come. */
    public boolean isOver() {
        return lanes.stream().noneMatch(Thread::isAlive);
    }

    /** Begins no more faults, and waits until those that have begun are over. */
    public void end() throws InterruptedException {
        end.countDown();
        for (Thread lane : lanes) {
            lane.join();
        }
    }

    /** Returns why the harness itself failed, or {@code null}. */
    public @Nullable Exception failure() {
        return failure.get();
    }
}
