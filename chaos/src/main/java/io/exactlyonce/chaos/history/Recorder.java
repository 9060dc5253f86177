package io.exactlyonce.chaos.history;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Puts events into one order and writes each to a file, as a line of JSON, before {@link #record} returns. So what was
 * answered is in the history, whichever process is killed next. It lives in the harness's process, which no fault hits;
 * workers reach it through a {@link RecorderServer}.
 */
public final class Recorder implements AutoCloseable {

    private final long start = System.nanoTime();
    private final ReentrantLock lock = new ReentrantLock();
    private final BufferedWriter file;
    private long events;

    /**
     * Begins a history.
     *
     * @param file is overwritten
     */
    public Recorder(Path file) throws IOException {
        this.file = Files.newBufferedWriter(file);
    }

    /**
     * Records an event as the latest of all. Usable by many threads.
     *
     * @return the event in its place
     * @throws IllegalArgumentException if it lacks what its kind needs; then nothing is recorded
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
