package io.exactlyonce.chaos.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A schedule that is on. */
public final class Storm implements AutoCloseable {

    private final List<Thread> threads = new ArrayList<>();
    private final List<CompletableFuture<Void>> lanes = new ArrayList<>();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    private Storm() {}

    /** Begins all lanes. */
    public static Storm begin(Schedule schedule, Targets targets) {
        Storm storm = new Storm();
        schedule.lanes().forEach(lane -> storm.begin(lane, targets));
        return storm;
    }

    private void begin(Lane lane, Targets targets) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        lane.run(targets);
                    } catch (Exception e) {
                        failure.compareAndSet(null, e);
                    } finally {
                        over.complete(null);
                    }
                },
                lane.name());
        thread.setDaemon(true);
        lanes.add(over);
        threads.add(thread);
        thread.start();
    }

    /** Returns whether no more faults come. */
    public boolean isOver() {
        return lanes.stream().allMatch(CompletableFuture::isDone);
    }

    /** Returns why the harness itself failed, or {@code null}. */
    public @Nullable Exception failure() {
        return failure.get();
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
    }
}
