package io.exactlyonce.window;

import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What window a queue should have, by the rule that fits how it is consumed.
 *
 * @param queue the queue's name
 * @param current the window it has
 * @param rule what the recommendation goes by
 * @param recommended whole seconds, from 1 s to 43,200 s; {@code null} if there is nothing to go by
 * @param confidence by the number of deliveries
 */
public record WindowAdvice(
        String queue, Duration current, Rule rule, @Nullable Duration recommended, Confidence confidence) {

    /** How long a window should be. The rules differ, for they serve different ends; each number says which one it is from. */
    public enum Rule {

        /** The window is renewed while the handler runs. It should hold the usual case, and come to its end soon after a crash. */
        RENEWED(
                "2 x p50",
                "twice the median: the usual delivery fits, renewal carries the others, and a crashed worker's message comes back soon"),

        /** Nothing renews the window: it must hold all but the rarest case. */
        NOT_RENEWED(
                "(p99 + 70 ms) x 1.75",
                "99th percentile, plus 50 ms for the network and 20 ms for reading and writing messages, times 1.5 to 2.0: the usual advice for static windows"),

        /** The other rules would make the window shorter than what is known of deliveries allows. */
        KEPT(
                "as it is, or p95",
                "the rule for this window gives less, but no window is made shorter than p95 (p99 of fewer than 200 deliveries), nor before the rule has enough deliveries to go by");

        private static final double OVERHEAD_SECONDS = 0.07;
        private static final double SAFETY = 1.75;

        private final String formula;
        private final String source;

        Rule(String formula, String source) {
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

        /** Returns the window in seconds, unless it is kept; it may be longer than SQS allows. */
        private double seconds(Latencies latencies) {
            return this == RENEWED
                    ? 2 * latencies.p50().toNanos() * 1e-9
                    : (latencies.p99().toNanos() * 1e-9 + OVERHEAD_SECONDS) * SAFETY;
        }
    }

    /** How far advice can be trusted, by the number of deliveries that it is made of. */
    public enum Confidence {

        /** There is nothing to go by. */
        NONE,

        /** The percentile is one of the longest deliveries seen, or nearly so. */
        LOW,

        /** The percentile is known to within some ten or twenty percent. */
        MEDIUM,

        /** More deliveries would hardly change it. */
        HIGH;

        private static Confidence of(Rule rule, long deliveries) {
            long enough = rule == Rule.RENEWED ? 20 : 200;
            return deliveries >= 10 * enough ? HIGH : deliveries >= enough ? MEDIUM : deliveries > 0 ? LOW : NONE;
        }
    }

    /**
     * Returns advice from measured latencies.
     *
     * @param queue the queue's name
     * @param current the window it has
     * @param isRenewed whether windows are renewed while handlers run
     * @param latencies of deliveries, from receive to acknowledgement
     */
    public static WindowAdvice of(String queue, VisibilityWindow current, boolean isRenewed, Latencies latencies) {
        Rule rule = isRenewed ? Rule.RENEWED : Rule.NOT_RENEWED;
        Confidence confidence = Confidence.of(rule, latencies.count());
        if (confidence == Confidence.NONE) {
            return new WindowAdvice(queue, current.length(), rule, null, confidence);
        }
        double seconds = rule.seconds(latencies);
        double kept = kept(current.length(), confidence, latencies);
        return new WindowAdvice(
                queue,
                current.length(),
                seconds < kept ? Rule.KEPT : rule,
                wholeSeconds(Math.max(seconds, kept)),
                confidence);
    }

    /** A few quick deliveries must not shorten a window that a slow one has just outlasted. */
    private static double kept(Duration current, Confidence confidence, Latencies latencies) {
        Duration most = confidence == Confidence.HIGH ? latencies.p95() : latencies.p99();
        Duration kept = confidence == Confidence.LOW || most.compareTo(current) > 0 ? current : most;
        return kept.toNanos() * 1e-9;
    }

    /** Returns what the queue's Terraform resource should say, ready to paste; empty without a recommendation. */
    public String terraform() {
        return recommended == null
                ? ""
                : """
                resource "aws_sqs_queue" "%s" {
                  name                       = "%s"%s
                  visibility_timeout_seconds = %d # %s
                }
                """.formatted(
                                queue.replaceAll("[^A-Za-z0-9_-]", "_"),
                                queue,
                                queue.endsWith(".fifo") ? "\n  fifo_queue                 = true" : "",
                                recommended.toSeconds(),
                                rule.formula());
    }

    /** Returns a command line for the AWS CLI, ready to paste; empty without a recommendation. */
    public String cli() {
        return recommended == null
                ? ""
                : ("aws sqs set-queue-attributes --queue-url \"$(aws sqs get-queue-url --queue-name %s --query QueueUrl"
                                + " --output text)\" --attributes VisibilityTimeout=%d")
                        .formatted(queue, recommended.toSeconds());
    }

    private static Duration wholeSeconds(double seconds) {
        long whole = (long) Math.ceil(seconds - 1e-9);
        return Duration.ofSeconds(
                Math.max(VisibilityWindow.SHORTEST.toSeconds(), Math.min(VisibilityWindow.CEILING.toSeconds(), whole)));
    }
}
