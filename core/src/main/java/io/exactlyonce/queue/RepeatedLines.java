package io.exactlyonce.queue;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limits the log lines that a sender causes with every receive of a message, so that bad messages cannot fill a log. A
 * kind of line is logged for the first receive of each message, at most {@value #MOST} times in an interval. Other
 * receives are counted. Their count is logged with the next line, at most once in an interval.
 *
 * <p>Each subscription has its own instance. It remembers no messages, and a bounded number of subjects. Thread-safe.
 */
public final class RepeatedLines {

    /** Most lines of one kind in an interval. */
    static final int MOST = 1_000;

    /** The subject of a line. */
    public enum Kind {
        /** The message cannot be read as the handler's parameter. */
        UNREADABLE(Duration.ofMinutes(1)),
        /** The message has no usable key. */
        NO_KEY(Duration.ofMinutes(1)),
        /** The message has no key, and goes on without one. */
        KEY_MISSING(Duration.ofMinutes(1)),
        /** The store rejects the key. */
        REJECTED_KEY(Duration.ofMinutes(1)),
        /** The handler's arguments cannot be made from the message. */
        NO_ARGUMENT(Duration.ofMinutes(1)),
        /** The key is completed for other content. */
        MISMATCH(Duration.ofMinutes(1)),
        /** The key is parked. Only an operator changes that, hours later. */
        PARKED(Duration.ofHours(1)),
        /** The SDK has repeated a receive. */
        REPEATED_RECEIVE(Duration.ofHours(1));

        private final Duration interval;

        Kind(Duration interval) {
            this.interval = interval;
        }

        /** Returns the time between two lines about later receives. */
        public Duration interval() {
            return interval;
        }
    }

    private static final class Line {
        long intervalBegan;
        int logged;
        int leftOut;
    }

    private final Map<Object, Line> lines = new HashMap<>();

    /** The subjects of earlier lines, the latest last. */
    private final Set<Object> subjects = new LinkedHashSet<>();

    /** Returns whether a subject, such as the hash of a key, is new. The last thousand subjects are remembered. */
    public synchronized boolean isFirst(Object subject) {
        boolean isFirst = !subjects.remove(subject);
        subjects.add(subject);
        if (subjects.size() > MOST) {
            subjects.remove(subjects.iterator().next());
        }
        return isFirst;
    }

    /**
     * Returns the end of a line that is to be logged: empty, or the number of lines that were left out. Returns {@code
     * null} if this line is left out, too.
     *
     * @param isNew whether the line reports something new, such as the first receive of a message
     * @param now by a monotonic clock, in nanoseconds
     */
    public @Nullable String next(Kind kind, boolean isNew, long now) {
        return next(kind, kind.interval, isNew, now);
    }

    /** Returns whether a line without news is due: once in an interval. */
    public boolean isDue(Object kind, Duration interval, long now) {
        return next(kind, interval, false, now) != null;
    }

    private synchronized @Nullable String next(Object kind, Duration interval, boolean isNew, long now) {
        Line line = lines.get(kind);
        if (line == null || now - line.intervalBegan >= interval.toNanos()) {
            line = line == null ? new Line() : line;
            line.intervalBegan = now;
            line.logged = 0;
            lines.put(kind, line);
        } else if (!isNew || line.logged >= MOST) {
            line.leftOut++;
            return null;
        }
        String end = line.leftOut == 0 ? "" : " (also %d times since the last such line)".formatted(line.leftOut);
        line.logged++;
        line.leftOut = 0;
        return end;
    }
}
