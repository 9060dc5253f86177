package io.exactlyonce.chaos.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs a schedule, with one thread for each of its sequences. */
public final class FaultInjection {

    private final List<Thread> sequences = new ArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    private FaultInjection() {}

    /** Starts all sequences. */
    public static FaultInjection begin(Schedule schedule, Targets targets) {
        FaultInjection injection = new FaultInjection();
        schedule.sequences().forEach(sequence -> injection.begin(sequence, targets));
        return injection;
    }

    private void begin(FaultSequence sequence, Targets targets) {
        Thread thread = new Thread(() -> run(sequence, targets), sequence.name());
        thread.setDaemon(true);
        sequences.add(thread);
        thread.start();
    }

    private void run(FaultSequence sequence, Targets targets) {
        try {
            sequence.run(targets, end);
        } catch (Exception e) {
            failure.compareAndSet(null, e);
        }
    }

    /** Returns whether all faults are over. */
    public boolean isOver() {
        return sequences.stream().noneMatch(Thread::isAlive);
    }

    /** Starts no more faults, and waits until the current faults are over. */
    public void end() throws InterruptedException {
        end.countDown();
        for (Thread sequence : sequences) {
            sequence.join();
        }
    }

    /** Returns why the harness itself failed, or {@code null}. */
    public @Nullable Exception failure() {
        return failure.get();
    }
}
