package io.exactlyonce.queue;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limits the log lines that a sender can cause with each receive of a message, so that bad messages cannot fill the
 * log. Each kind of line has an interval. In each interval, the following lines are logged:
 *
 * <ul>
 *   <li>the first line, even if it reports nothing new;
 *   <li>up to {@value #MOST} lines that report something new, such as the first receive of a message.
 * </ul>
 *
 * <p>Other lines are left out and counted, and the next line contains their number.
 *
 * <p>Each subscription has its own instance, which keeps no messages, and a bounded number of subjects. Thread-safe.
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
        /** The message has no key, and is skipped or handled without a claim, by {@code whenKeyMissing}. */
        KEY_MISSING(Duration.ofMinutes(1)),
        /** The store rejects the key. */
        REJECTED_KEY(Duration.ofMinutes(1)),
        /** The handler's arguments cannot be made from the message. */
        NO_ARGUMENT(Duration.ofMinutes(1)),
        /** The key is completed for other content. */
        MISMATCH(Duration.ofMinutes(1)),
        /** The key is parked. The interval is long, because an operator may decide only hours later. */
        PARKED(Duration.ofHours(1)),
        /** The SDK has repeated a receive. */
        REPEATED_RECEIVE(Duration.ofHours(1));

        private final Duration interval;

        Kind(Duration interval) {
            this.interval = interval;
        }

        /** Returns the shortest time between two lines that report nothing new. */
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

    /** The subjects of earlier lines, from the earliest to the latest. */
    private final Set<Object> subjects = new LinkedHashSet<>();

    /** Returns whether a subject, such as the hash of a key, is not among the last {@value #MOST} subjects. */
    public synchronized boolean isFirst(Object subject) {
        boolean isFirst = !subjects.remove(subject);
        subjects.add(subject);
        if (subjects.size() > MOST) {
            subjects.remove(subjects.iterator().next());
        }
        return isFirst;
    }

    /**
     * Returns the end of a line that is to be logged: empty, or a text with the number of lines that were left out
     * before it. Returns {@code null} if the caller must leave out its line, too.
     *
     * @param isNew whether the line reports something new, such as the first receive of a message
     * @param now the time by a monotonic clock, in nanoseconds
     */
    public @Nullable String next(Kind kind, boolean isNew, long now) {
        return next(kind, kind.interval, isNew, now);
    }

    /** Returns whether a line that reports nothing new is due, which happens once in an interval. */
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
