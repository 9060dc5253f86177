package io.exactlyonce.window;

import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The recommended visibility timeout of a queue.
 *
 * @param queue the queue's name
 * @param current the current visibility timeout
 * @param rule the rule behind the recommendation
 * @param recommended the recommended timeout in whole seconds, from 1 s to 43,200 s; {@code null} without data
 * @param confidence how reliable the recommendation is, judged by the number of measured deliveries
 */
public record WindowAdvice(
        String queue, Duration current, Rule rule, @Nullable Duration recommended, Confidence confidence) {

    /** The rules for the visibility timeout. Each recommendation names its rule. */
    public enum Rule {

        /**
         * The rule if the visibility timeout is renewed while the handler runs. The timeout should be long enough for
         * the usual handler, and short enough to expire soon after a crash.
         */
        RENEWED(
                "2 x p50",
                "twice the median: the usual delivery fits, renewal carries the others, and a crashed worker's message comes back soon"),

        /** The rule if renewal is off. The visibility timeout must outlast all but the rarest handlers. */
        NOT_RENEWED(
                "(p99 + 70 ms) x 1.75",
                "99th percentile, plus 50 ms for the network and 20 ms for reading and writing messages, times 1.5 to 2.0: the usual advice for static visibility timeouts"),

        /**
         * The measured deliveries need a longer visibility timeout than the rule for the renewal mode gives. The
         * recommendation is therefore the current timeout, or a percentile of the deliveries.
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

        /** Returns the formula, such as {@code 2 x p50}. */
        public String formula() {
            return formula;
        }

        /** Returns the origin of the rule. */
        public String source() {
            return source;
        }

        /**
         * Returns the rule's visibility timeout in seconds, which may be longer than SQS allows. Must not be called on
         * {@link #KEPT}, which computes no timeout.
         */
        private double seconds(Latencies latencies) {
            return this == RENEWED
                    ? 2 * latencies.p50().toNanos() * 1e-9
                    : (latencies.p99().toNanos() * 1e-9 + OVERHEAD_SECONDS) * SAFETY;
        }
    }

    /** The confidence of a recommendation, by the number of deliveries behind it. */
    public enum Confidence {

        /** There are no deliveries. */
        NONE,

        /** There are fewer deliveries than the rule needs: 20 for a median, 200 for a 99th percentile. */
        LOW,

        /** The rule's percentile is known to within ten or twenty percent. */
        MEDIUM,

        /**
         * There are at least ten times as many deliveries as the rule needs. More would hardly change the percentile.
         */
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
     * @param current the current visibility timeout
     * @param isRenewed whether visibility timeouts are renewed while handlers run
     * @param latencies the latencies of deliveries, from receive to acknowledgement
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
     * Returns the shortest visibility timeout that may be recommended, in seconds: p99 of the deliveries, or p95 if
     * the confidence is high.
     *
     * <p>Returns the current timeout if that percentile exceeds the current timeout, because a timeout that slow
     * deliveries have exceeded must not be shortened. Also returns the current timeout if there are only a few
     * deliveries.
     */
    private static double kept(Duration current, Confidence confidence, Latencies latencies) {
        Duration most = confidence == Confidence.HIGH ? latencies.p95() : latencies.p99();
        Duration kept = confidence == Confidence.LOW || most.compareTo(current) > 0 ? current : most;
        return kept.toNanos() * 1e-9;
    }

    /**
     * Returns the queue's Terraform resource with the recommended timeout. Returns an empty text if there is no
     * recommendation.
     */
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

    /**
     * Returns an AWS CLI command that sets the recommended timeout. Returns an empty text if there is no
     * recommendation.
     */
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
