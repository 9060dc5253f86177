package io.exactlyonce.window;

import io.exactlyonce.window.foresight.Latencies;
import java.time.Duration;

/** How long a window should be. The rules differ, for they serve different ends; each number says which one it is from. */
public enum WindowRule {
    /** The window is renewed while the handler runs. It should hold the usual case, and come to its end soon after a crash. */
    RENEWED(
            "2 x p50",
            "initial window of twice the median, renewal beyond it: the rule left by an incident in which 847 orders were charged twice"),

    /** Nothing renews the window: it must hold all but the rarest case. */
    NOT_RENEWED(
            "(p99 + 70 ms) x 1.75",
            "99th percentile, plus 50 ms for the network and 20 ms for reading and writing messages, times 1.5 to 2.0: the usual advice for static windows"),

    /** The queue feeds a Lambda function, which polls, batches and retries by itself. */
    LAMBDA(
            "6 x timeout",
            "AWS Lambda Developer Guide, \"Using Lambda with Amazon SQS\": at least six times the function's timeout");

    /** SQS hides a message for at most this long. */
    static final long MOST_SECONDS = 43_200;

    private static final Duration OVERHEAD = Duration.ofMillis(70);
    private static final double SAFETY = 1.75;

    private final String formula;
    private final String source;

    WindowRule(String formula, String source) {
        this.formula = formula;
        this.source = source;
    }

    /** Returns how the window is worked out, such as {@code 2 x p50}. */
    public String formula() {
        return formula;
    }

    /** Returns where the rule comes from. */
    public String source() {
        return source;
    }

    /** Returns the window for a value of what the rule goes by, in seconds; it may be longer than SQS allows. */
    double seconds(Duration value) {
        double seconds = value.toNanos() * 1e-9;
        return switch (this) {
            case RENEWED -> 2 * seconds;
            case NOT_RENEWED -> (seconds + OVERHEAD.toNanos() * 1e-9) * SAFETY;
            case LAMBDA -> StaticWindowRule.FACTOR * seconds;
        };
    }

    /** Returns what a window has to go by: a percentile, with where it may be. */
    Measured measured(Latencies latencies) {
        return this == RENEWED
                ? new Measured(latencies.p50(), latencies.p50Range())
                : new Measured(latencies.p99(), latencies.p99Range());
    }

    /** A percentile and its range. */
    record Measured(Duration value, Latencies.Range range) {}
}
