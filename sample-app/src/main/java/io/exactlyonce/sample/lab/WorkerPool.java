package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/** The worker processes of one side, including killed ones. */
public final class WorkerPool implements AutoCloseable {

    private final Kind kind;
    private final JavaCommand java;
    private final Map<String, String> environment;
    private final Workspace workspace;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, WorkerProcess> workers = new LinkedHashMap<>();
    private final Set<String> killed = new LinkedHashSet<>();
    private boolean closed;

    /** @param environment the workers' settings, as environment variables */
    public WorkerPool(Kind kind, JavaCommand java, Map<String, String> environment, Workspace workspace) {
        this.kind = kind;
        this.java = java;
        this.environment = new HashMap<>(environment);
        this.workspace = workspace;
    }

    /** Starts another worker, without waiting until it is ready. */
    public WorkerProcess startOne() throws IOException {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("The %s workers are being stopped".formatted(kind.label()));
            }
            String name = "%s-%d".formatted(kind.label(), workers.size() + 1);
            String profiles = "--spring.profiles.active=%s,lab".formatted(kind.label());
            List<String> command = java.with(workspace.temporary(), List.of("worker", profiles));
            WorkerProcess worker = WorkerProcess.start(name, command, environment, workspace.logs());
            workers.put(name, worker);
            return worker;
        } finally {
            lock.unlock();
        }
    }

    /** Kills a worker, and starts another in its place. */
    public WorkerProcess replace(String name) {
        lock.lock();
        try {
            WorkerProcess victim = workers.get(name);
            if (victim == null) {
                throw new IllegalArgumentException("No worker is named " + name);
            }
            victim.kill();
            killed.add(name);
            return startOne();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all workers take orders. */
    public void awaitReady(Deadline deadline) throws InterruptedException {
        for (WorkerProcess worker : living()) {
            worker.awaitPort(deadline);
        }
    }

    /** Returns the running workers, ready or not. */
    public List<WorkerProcess> living() {
        lock.lock();
        try {
            return workers.values().stream()
                    .filter(worker -> !killed.contains(worker.name()) && worker.isAlive())
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the workers that ended without being killed or stopped. */
    List<String> endedByThemselves() {
        lock.lock();
        try {
            return workers.values().stream()
                    .filter(worker -> !killed.contains(worker.name()) && !worker.isAlive())
                    .map(WorkerProcess::name)
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    Set<String> killed() {
        lock.lock();
        try {
            return Set.copyOf(killed);
        } finally {
            lock.unlock();
        }
    }

    /** Requests the shutdown of all workers without waiting for it. No worker can be started afterwards. */
    void requestStop() throws IOException {
        for (WorkerProcess worker : noMore()) {
            worker.requestStop();
        }
    }

    void awaitStop() {
        noMore().forEach(WorkerProcess::awaitStop);
    }

    /** Ends all workers at once, for runs that are given up. */
    @Override
    public void close() {
        List<WorkerProcess> all = noMore();
        all.forEach(WorkerProcess::kill);
        all.forEach(WorkerProcess::close);
    }

    /** Prevents further starts, and returns all workers. */
    private List<WorkerProcess> noMore() {
        lock.lock();
        try {
            closed = true;
            return List.copyOf(workers.values());
        } finally {
            lock.unlock();
        }
    }
}
