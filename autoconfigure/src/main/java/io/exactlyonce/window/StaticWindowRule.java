package io.exactlyonce.window;

import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How long a window must be where nothing renews it: six times the handler's timeout, as AWS advises for queues behind
 * Lambda functions.
 */
public final class StaticWindowRule {

    /** How many of the handler's timeouts a window must hold. */
    public static final int FACTOR = 6;

    private StaticWindowRule() {}

    /**
     * Returns what is wrong with a window that is never renewed, with the values, the bound and the remedy.
     *
     * @param timeout the handler's; {@code null} if it has none
     */
    public static Optional<String> violation(VisibilityWindow window, @Nullable Duration timeout) {
        if (timeout == null) {
            return Optional.of(
                    "nothing is renewed (exactly-once.renewal.enabled=false), and the listener has no timeout that its visibility window (%s) could be held against; set the listener's timeout, at most to a sixth of the window (%s)"
                            .formatted(
                                    text(window.length()), text(window.length().dividedBy(FACTOR))));
        }
        Duration least = timeout.multipliedBy(FACTOR);
        if (window.length().compareTo(least) >= 0) {
            return Optional.empty();
        }
        return Optional.of(
                "nothing is renewed (exactly-once.renewal.enabled=false), so the visibility window (%s) must be at least %d times the listener's timeout (%s): %s; %s"
                        .formatted(text(window.length()), FACTOR, text(timeout), text(least), remedy(least)));
    }

    /**
     * Returns the part of the window that the 95th percentile of deliveries takes: above 0.8 a window is too short for
     * listeners that do not renew, above 1 they process messages twice.
     *
     * @param p95 receive to acknowledge; zero if nothing was measured
     */
    public static double utilization(Duration p95, VisibilityWindow window) {
        return (double) p95.toNanos() / window.length().toNanos();
    }

    private static String remedy(Duration least) {
        return least.compareTo(VisibilityWindow.CEILING) > 0
                ? "SQS allows 43200s at most: shorten the timeout to at most 7200s, or let windows be renewed"
                : "set the queue's VisibilityTimeout or the listener's messageVisibilitySeconds, or let windows be renewed";
    }

    private static String text(Duration duration) {
        return duration.toNanosPart() == 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
    }
}
