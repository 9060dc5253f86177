package io.exactlyonce.queue;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps bad messages from filling the log. SQS redelivers a bad message again and again, and each receive could log a
 * line. So lines are limited for each kind. In each interval, these lines of a kind are logged:
 * <ul>
 * <li>the first line;
 * <li>up to {@value #MOST} lines about something new, such as the first receive of a message.
 * </ul>
 *
 * <p>Other lines are only counted. The next logged line of the kind contains their number.
 *
 * <p>Each subscription has its own instance, which uses little memory. Thread-safe.
 */
public final class RepeatedLines {

    /** Limit of lines of one kind in an interval. */
    static final int MOST = 1_000;

    /** A kind of line that senders can cause. */
    public enum Kind {
        /** The message cannot be read as the handler's parameter. */
        UNREADABLE(Duration.ofMinutes(1)),
        /** The message has no usable key. */
        NO_KEY(Duration.ofMinutes(1)),
        /**
         * The message has no key. The listener's {@code whenKeyMissing} decides whether it is deleted or handled
         * without a claim.
         */
        KEY_MISSING(Duration.ofMinutes(1)),
        /** The store rejects the key. */
        REJECTED_KEY(Duration.ofMinutes(1)),
        /** The handler's arguments cannot be made from the message. */
        NO_ARGUMENT(Duration.ofMinutes(1)),
        /** The key is completed for other content. */
        MISMATCH(Duration.ofMinutes(1)),
        /** The key is parked. The interval is long, because it may take hours until an operator decides. */
        PARKED(Duration.ofHours(1)),
        /** The SDK has repeated a receive. */
        REPEATED_RECEIVE(Duration.ofHours(1));

        private final Duration interval;

        Kind(Duration interval) {
            this.interval = interval;
        }

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

    /** The subjects of earlier lines (for example hashes of keys), oldest first. */
    private final Set<Object> subjects = new LinkedHashSet<>();

    /**
     * Returns whether a subject (for example the hash of a key) is seen for the first time. Only the last {@value
     * #MOST} subjects are remembered.
     */
    public synchronized boolean isFirst(Object subject) {
        boolean isFirst = !subjects.remove(subject);
        subjects.add(subject);
        if (subjects.size() > MOST) {
            subjects.remove(subjects.iterator().next());
        }
        return isFirst;
    }

    /**
     * Decides whether to log a line. Returns {@code null} if the caller must not log the line. Otherwise returns a text
     * to append to the line: empty, or the number of lines that were left out before.
     *
     * @param isNew whether the line is about something new, such as the first receive of a message
     * @param now the time by a monotonic clock, in nanoseconds
     */
    public @Nullable String next(Kind kind, boolean isNew, long now) {
        return next(kind, kind.interval, isNew, now);
    }

    /** Returns whether to log a line of this kind now. Returns true only once in each interval. */
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
