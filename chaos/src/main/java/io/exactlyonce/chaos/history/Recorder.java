package io.exactlyonce.chaos.history;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Puts events into one order. Writes each event to a file, as a line of JSON, before {@link #record} returns. An
 * answered event is therefore in the history, even if any process is killed next. The recorder runs in the harness's
 * process, which no fault hits. Workers reach it through a {@link RecorderServer}.
 */
public final class Recorder implements AutoCloseable {

    private final long start = System.nanoTime();
    private final ReentrantLock lock = new ReentrantLock();
    private final BufferedWriter file;
    private long events;

    /**
     * Starts a history.
     *
     * @param file the file, which is overwritten
     */
    public Recorder(Path file) throws IOException {
        this.file = Files.newBufferedWriter(file);
    }

    /**
     * Records an event as the latest one. Thread-safe.
     *
     * @return the event with its position
     * @throws IllegalArgumentException if the event lacks a part that its kind requires; nothing is recorded then
     */
    public Event record(Event event) {
        lock.lock();
        try {
            Event recorded = event.recorded(events + 1, (System.nanoTime() - start) / 1_000);
            file.write(EventJson.write(recorded));
            file.write('\n');
            file.flush();
            events++;
            return recorded;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws IOException {
        lock.lock();
        try {
            file.close();
        } finally {
            lock.unlock();
        }
    }
}
