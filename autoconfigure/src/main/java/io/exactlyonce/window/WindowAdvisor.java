package io.exactlyonce.window;

import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.foresight.Latencies;
import java.time.Duration;

/** Says what window a queue should have, by the rule that fits how it is consumed. */
public final class WindowAdvisor {

    private WindowAdvisor() {}

    /**
     * Returns advice from measured latencies.
     *
     * @param queue the queue's name
     * @param current the window it has
     * @param isRenewed whether windows are renewed while handlers run
     * @param latencies of deliveries, from receive to acknowledgement
     */
    public static WindowAdvice advise(String queue, VisibilityWindow current, boolean isRenewed, Latencies latencies) {
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
                WindowAdvice.wholeSeconds(seconds),
                WindowAdvice.wholeSeconds(rule.seconds(measured.range().from())),
                WindowAdvice.wholeSeconds(rule.seconds(measured.range().to())),
                confidence,
                seconds > WindowRule.MOST_SECONDS);
    }

    /**
     * Returns advice for a queue that feeds a Lambda function: it goes by the function's timeout, and needs no measurement.
     *
     * @param timeout the function's; AWS allows 900 s at most
     */
    public static WindowAdvice adviseForLambda(String queue, VisibilityWindow current, Duration timeout) {
        double seconds = WindowRule.LAMBDA.seconds(timeout);
        Duration recommended = WindowAdvice.wholeSeconds(seconds);
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
}
