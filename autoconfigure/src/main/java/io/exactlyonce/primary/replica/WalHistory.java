package io.exactlyonce.primary.replica;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Remembers how far the primary's log had grown at which time. What the server itself measures stands still when a replica
 * does: it knows the lag of the last commit that was replayed, not the age of the first that was not.
 */
final class WalHistory {

    /**
     * How old a replica's report may be, by PostgreSQL's default {@code wal_receiver_status_interval}: a position that is
     * younger than this proves no lag.
     */
    static final Duration REPORT_AGE = Duration.ofSeconds(10);

    /** An hour of looks every ten seconds. A replica that is further behind keeps the oldest of them. */
    private static final int MAX_SAMPLES = 360;

    private record Sample(long position, long at) {}

    private final Deque<Sample> samples = new ArrayDeque<>();

    /**
     * @param position end of the primary's log
     * @param now monotonic, in nanoseconds
     */
    void record(long position, long now) {
        Sample last = samples.peekLast();
        if (last != null && position < last.position()) {
            // Another primary, which has lost what the earlier one had written.
            samples.clear();
        }
        if (last != null && position == last.position()) {
            return;
        }
        if (samples.size() == MAX_SAMPLES) {
            samples.removeLast();
        }
        samples.addLast(new Sample(position, now));
    }

    /** Returns for how long, at least, a replica that has replayed up to a position has not replayed what came next. */
    Duration provenLag(long replayed, long now) {
        return samples.stream()
                .filter(sample -> sample.position() > replayed)
                .findFirst()
                .map(sample -> Duration.ofNanos(now - sample.at()).minus(REPORT_AGE))
                .filter(lag -> !lag.isNegative())
                .orElse(Duration.ZERO);
    }

    /** Forgets what every replica has replayed, but for the newest position. */
    void forgetUpTo(long slowest) {
        while (samples.size() > 1 && samples.getFirst().position() <= slowest) {
            samples.removeFirst();
        }
    }
}
