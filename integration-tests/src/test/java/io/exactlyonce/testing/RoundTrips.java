package io.exactlyonce.testing;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Counts the round trips of this JVM to PostgreSQL: the driver's log names each message of its protocol, and each
 * round trip ends in one Sync. The application under test stays unchanged. A test's own statements count, too.
 */
public final class RoundTrips implements AutoCloseable {

    /** The logger is referenced here. Otherwise it would be collected, and its level lost. */
    private final Logger driver = Logger.getLogger("org.postgresql.core.v3.QueryExecutorImpl");

    private final AtomicInteger syncs = new AtomicInteger();
    private final AtomicInteger executions = new AtomicInteger();
    private final Set<String> waiting = ConcurrentHashMap.newKeySet();
    private final Handler counter = new Handler() {
        @Override
        public void publish(LogRecord message) {
            String text = message.getMessage();
            if (text.startsWith(" FE=> Sync")) {
                syncs.incrementAndGet();
                waiting.add(Thread.currentThread().getName());
            } else if (text.startsWith(" FE=> Execute")) {
                executions.incrementAndGet();
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    private RoundTrips() {}

    /** Counts from now on. */
    public static RoundTrips count() {
        RoundTrips trips = new RoundTrips();
        trips.counter.setLevel(Level.ALL);
        trips.driver.setUseParentHandlers(false);
        trips.driver.addHandler(trips.counter);
        trips.driver.setLevel(Level.FINEST);
        return trips;
    }

    /** Returns the round trips so far. */
    public int total() {
        return syncs.get();
    }

    /** Returns the statements so far, including those that share a round trip. */
    public int statements() {
        return executions.get();
    }

    /** Returns the names of the threads that waited for round trips. */
    public Set<String> threads() {
        return Set.copyOf(waiting);
    }

    @Override
    public void close() {
        driver.setLevel(null);
        driver.removeHandler(counter);
        driver.setUseParentHandlers(true);
    }
}
