package io.exactlyonce.window;

import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.foresight.Latencies;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What window a queue should have, by the rule that fits how it is consumed.
 *
 * @param queue the queue's name
 * @param current the window it has
 * @param rule what the recommendation goes by
 * @param recommended whole seconds, from 1 s to 43,200 s; {@code null} if there is nothing to go by
 * @param least the shortest that the rule might ask for with 95 % certainty; {@code null} as above
 * @param most the longest; {@code null} as above
 * @param confidence by the number of deliveries
 * @param isBeyondCeiling whether the rule asks for more than SQS allows: the handler must become faster, or be renewed
 */
public record WindowAdvice(
        String queue,
        Duration current,
        WindowRule rule,
        @Nullable Duration recommended,
        @Nullable Duration least,
        @Nullable Duration most,
        Confidence confidence,
        boolean isBeyondCeiling) {

    /**
     * Returns advice from measured latencies.
     *
     * @param queue the queue's name
     * @param current the window it has
     * @param isRenewed whether windows are renewed while handlers run
     * @param latencies of deliveries, from receive to acknowledgement
     */
    public static WindowAdvice of(String queue, VisibilityWindow current, boolean isRenewed, Latencies latencies) {
        WindowRule rule = isRenewed ? WindowRule.RENEWED : WindowRule.NOT_RENEWED;
        Confidence confidence = Confidence.of(rule, latencies.count());
        if (confidence == Confidence.NONE) {
            return new WindowAdvice(queue, current.length(), rule, null, null, null, confidence, false);
        }
        WindowRule.Measured measured = rule.measured(latencies);
        double seconds = rule.seconds(measured.value());
        return new WindowAdvice(
                queue,
                current.length(),
                rule,
                wholeSeconds(seconds),
                wholeSeconds(rule.seconds(measured.range().from())),
                wholeSeconds(rule.seconds(measured.range().to())),
                confidence,
                seconds > WindowRule.MOST_SECONDS);
    }

    /**
     * Returns advice for a queue that feeds a Lambda function: it goes by the function's timeout, and needs no measurement.
     *
     * @param timeout the function's; AWS allows 900 s at most
     */
    public static WindowAdvice forLambda(String queue, VisibilityWindow current, Duration timeout) {
        double seconds = WindowRule.LAMBDA.seconds(timeout);
        Duration recommended = wholeSeconds(seconds);
        return new WindowAdvice(
                queue,
                current.length(),
                WindowRule.LAMBDA,
                recommended,
                recommended,
                recommended,
                Confidence.HIGH,
                seconds > WindowRule.MOST_SECONDS);
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
                Math.max(VisibilityWindow.SHORTEST.toSeconds(), Math.min(WindowRule.MOST_SECONDS, whole)));
    }
}
