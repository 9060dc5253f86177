package io.exactlyonce.window;

import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The recommended visibility timeout of a queue.
 *
 * @param current the queue's visibility timeout now
 * @param rule how the recommendation was computed
 * @param recommended in whole seconds, from 1 s to 43,200 s; {@code null} if nothing was measured
 * @param confidence how reliable the recommendation is; depends on the number of measured deliveries
 */
public record WindowAdvice(
        String queue, Duration current, Rule rule, @Nullable Duration recommended, Confidence confidence) {

    /** The ways to compute a visibility timeout. The endpoint shows the one that was used. */
    public enum Rule {

        /**
         * The rule for listeners that renew visibility timeouts: twice the median. Most handlers finish within this
         * timeout, and for slower ones it is renewed. If the process crashes, SQS redelivers the message soon.
         */
        RENEWED(
                "2 x p50",
                "twice the median: the usual delivery fits, renewal carries the others, and a crashed worker's message comes back soon"),

        /**
         * The rule for listeners that do not renew: almost all deliveries must finish within the visibility timeout.
         */
        NOT_RENEWED(
                "(p99 + 70 ms) x 1.75",
                "99th percentile, plus 50 ms for the network and 20 ms for reading and writing messages, times 1.5 to 2.0: the usual advice for static visibility timeouts"),

        /**
         * Used if the formula recommends a timeout that is too short for the measured deliveries. Then the current
         * timeout, or a percentile of the latencies, is recommended instead.
         */
        KEPT(
                "as it is, or p95",
                "the rule gives less; no value below p95 (p99 of fewer than 200 deliveries) is recommended, and no lower one after few deliveries");

        private static final double OVERHEAD_SECONDS = 0.07;
        private static final double SAFETY = 1.75;

        private final String formula;
        private final String source;

        Rule(String formula, String source) {
            this.formula = formula;
            this.source = source;
        }

        /** Returns the formula, for example {@code 2 x p50}. */
        public String formula() {
            return formula;
        }

        /** Returns the origin of the rule. */
        public String source() {
            return source;
        }

        /**
         * Returns the timeout in seconds, which may exceed SQS's limit. Not for {@link #KEPT}, which has no formula.
         */
        private double seconds(Latencies latencies) {
            return this == RENEWED
                    ? 2 * latencies.p50().toNanos() * 1e-9
                    : (latencies.p99().toNanos() * 1e-9 + OVERHEAD_SECONDS) * SAFETY;
        }
    }

    /** How reliable a recommendation is. Depends on the number of measured deliveries. */
    public enum Confidence {

        /** There are no deliveries. */
        NONE,

        /** Too few deliveries for the rule's percentile: fewer than 20 for a median, or 200 for a 99th percentile. */
        LOW,

        /** Enough deliveries: the percentile's error is ten to twenty percent. */
        MEDIUM,

        /** Ten times as many deliveries as needed. With more, the percentile would hardly change. */
        HIGH;

        private static Confidence of(Rule rule, long deliveries) {
            long enough = rule == Rule.RENEWED ? 20 : 200;
            return deliveries >= 10 * enough ? HIGH : deliveries >= enough ? MEDIUM : deliveries > 0 ? LOW : NONE;
        }
    }

    /**
     * Recommends a visibility timeout.
     *
     * @param queue the queue's name
     * @param current the queue's visibility timeout now
     * @param isRenewed whether visibility timeouts are renewed while handlers run
     * @param latencies measured from a message's receive to its confirmed delete
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

    /**
     * Returns the shortest timeout that may be recommended, in seconds. With confidence {@code HIGH}, this is the p95
     * of the deliveries; with {@code MEDIUM}, their p99; with {@code LOW}, the current timeout. If the percentile
     * exceeds the current timeout, returns the current timeout, too.
     */
    private static double kept(Duration current, Confidence confidence, Latencies latencies) {
        Duration most = confidence == Confidence.HIGH ? latencies.p95() : latencies.p99();
        Duration kept = confidence == Confidence.LOW || most.compareTo(current) > 0 ? current : most;
        return kept.toNanos() * 1e-9;
    }

    /** Returns a Terraform resource that sets the recommended timeout; empty if there is no recommendation. */
    public String terraform() {
        return recommended == null
                ? ""
                : """
                resource "aws_sqs_queue" "%s" {
                  name                       = "%s"%s
                  visibility_timeout_seconds = %s # %s
                }
                """.formatted(
                                queue.replaceAll("[^A-Za-z0-9_-]", "_"),
                                queue,
                                queue.endsWith(".fifo") ? "\n  fifo_queue                 = true" : "",
                                recommended.toSeconds(),
                                rule.formula());
    }

    /** Returns an AWS CLI command that sets the recommended timeout; empty if there is no recommendation. */
    public String cli() {
        return recommended == null
                ? ""
                : ("aws sqs set-queue-attributes --queue-url \"$(aws sqs get-queue-url --queue-name %s --query QueueUrl"
                                + " --output text)\" --attributes VisibilityTimeout=%s")
                        .formatted(queue, recommended.toSeconds());
    }

    private static Duration wholeSeconds(double seconds) {
        long whole = (long) Math.ceil(seconds - 1e-9);
        return Duration.ofSeconds(
                Math.max(VisibilityWindow.SHORTEST.toSeconds(), Math.min(VisibilityWindow.CEILING.toSeconds(), whole)));
    }
}
