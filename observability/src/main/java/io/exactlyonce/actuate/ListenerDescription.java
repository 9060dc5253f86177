package io.exactlyonce.actuate;

import io.exactlyonce.audit.AuditReport;
import io.exactlyonce.audit.Finding;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.Outlook;
import io.exactlyonce.window.WindowAdvice;
import io.exactlyonce.window.WindowWatch.ListenerWindow;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One listener on one queue, as the endpoint shows it. Times are seconds.
 *
 * @param timeout of the handler; {@code null} if it has none
 * @param inFlight deliveries of this instance that are neither deleted nor returned nor abandoned yet
 * @param waiting those that wait for their key's holder, or for the store
 * @param pausedBy the ways to claim on which there is no answer, which is why it does not poll
 * @param maxReceiveCount receives before the dead-letter queue; {@code null} without one
 * @param retriesLast for how long, at least, attempts at a message that fails go on before it is there
 * @param audit {@code null} until the queue was read, or if the audit is off
 */
public record ListenerDescription(
        String listener,
        String queue,
        double visibilityWindow,
        @Nullable Double timeout,
        int inFlight,
        int waiting,
        Set<String> pausedBy,
        @Nullable Integer maxReceiveCount,
        @Nullable Double retriesLast,
        Window window,
        @Nullable List<Finding> audit) {

    private static final double MILLIS_PER_SECOND = 1_000;

    /**
     * Measured latencies against the window, and what it should be.
     *
     * @param deliveries that the percentiles are of
     * @param utilization p95 of the last minutes / window
     * @param timeToBreach until p95 reaches the window as it grows; 0 if it has; {@code null} if no growth is known
     */
    public record Window(
            long deliveries,
            double p50,
            double p95,
            double p99,
            double recentP95,
            double utilization,
            @Nullable Double timeToBreach,
            String strays,
            Advice advice) {}

    /** What window the queue should have, and what sets it. */
    public record Advice(
            @Nullable Double recommended,
            String rule,
            String source,
            String confidence,
            String terraform,
            String cli) {}

    static ListenerDescription of(
            Subscription subscription,
            @Nullable Duration retriesLast,
            ListenerWindow window,
            @Nullable AuditReport report) {
        return new ListenerDescription(
                subscription.listener(),
                subscription.queue(),
                subscription.window().length().toSeconds(),
                seconds(subscription.timeout()),
                subscription.levels().inFlight().get(),
                subscription.levels().waiting().get(),
                subscription.gate().isPaused() ? Set.of(subscription.gate().way()) : Set.of(),
                subscription.maxReceiveCount(),
                seconds(retriesLast),
                window(window.outlook(), window.advice()),
                report == null ? null : report.findings());
    }

    private static Window window(Outlook outlook, WindowAdvice advice) {
        return new Window(
                outlook.latencies().count(),
                exact(outlook.latencies().p50()),
                exact(outlook.latencies().p95()),
                exact(outlook.latencies().p99()),
                exact(outlook.recent().p95()),
                outlook.utilization(),
                seconds(outlook.timeToBreach().orElse(null)),
                outlook.strays(),
                new Advice(
                        seconds(advice.recommended()),
                        advice.rule().formula(),
                        advice.rule().source(),
                        advice.confidence().name(),
                        advice.terraform(),
                        advice.cli()));
    }

    private static @Nullable Double seconds(@Nullable Duration time) {
        return time == null ? null : exact(time);
    }

    private static double exact(Duration time) {
        return time.toMillis() / MILLIS_PER_SECOND;
    }
}
