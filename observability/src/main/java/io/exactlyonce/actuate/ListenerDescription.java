package io.exactlyonce.actuate;

import io.exactlyonce.audit.AuditReport;
import io.exactlyonce.audit.Finding;
import io.exactlyonce.observe.Prevented;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.window.WindowAdvice;
import io.exactlyonce.window.WindowWatch.ListenerWindow;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One listener on one queue, as the endpoint shows it. Values of {@code null} are left out of the response.
 *
 * @param sinceStart the repeats that claims have prevented on this instance
 * @param timeoutSeconds the handler's timeout; {@code null} if the handler has none
 * @param inFlight deliveries of this instance that are not deleted, returned or abandoned yet
 * @param waiting deliveries that wait for their key's owner, or for the store
 * @param pausedBy why polling is paused: {@code claims}, or the transaction manager whose claims get no answer;
 *     {@code null} if polling is not paused
 * @param maxReceiveCount how often a message is received before SQS moves it to the dead-letter queue; {@code null}
 *     without a dead-letter queue
 * @param retryBudgetSeconds the minimum time for which a failing message is retried before SQS moves it to the
 *     dead-letter queue; {@code null} without a dead-letter queue
 * @param window the measured latencies; {@code null} until a delivery was measured
 * @param audit the audit's findings; {@code null} before the first audit, without findings, or if the audit is off
 */
public record ListenerDescription(
        String listener,
        String queue,
        Prevented.Counts sinceStart,
        long visibilityTimeoutSeconds,
        @Nullable Double timeoutSeconds,
        int inFlight,
        int waiting,
        @Nullable String pausedBy,
        @Nullable Integer maxReceiveCount,
        @Nullable Double retryBudgetSeconds,
        @Nullable Window window,
        @Nullable List<Finding> audit) {

    private static final double MILLIS_PER_SECOND = 1_000;

    /**
     * Measured latencies, the visibility timeout that they use up, and its recommended value.
     *
     * @param deliveries the number of deliveries behind the percentiles
     * @param utilizationRatio a lower bound of the p95 of the last minutes, as a fraction of the visibility timeout
     */
    public record Window(
            long deliveries,
            double p50Seconds,
            double p95Seconds,
            double p99Seconds,
            double recentP95Seconds,
            double utilizationRatio,
            Advice advice) {}

    /** The recommended visibility timeout of the queue, and how to set it. */
    public record Advice(
            @Nullable Double recommendedSeconds,
            String rule,
            String reason,
            String confidence,
            String terraform,
            String cli) {}

    static ListenerDescription of(
            Subscription subscription,
            Prevented.Counts sinceStart,
            @Nullable Duration retryBudget,
            ListenerWindow window,
            @Nullable AuditReport report) {
        return new ListenerDescription(
                subscription.listener(),
                subscription.queue(),
                sinceStart,
                subscription.settings().window().length().toSeconds(),
                seconds(subscription.timeout()),
                subscription.levels().inFlight().get(),
                subscription.levels().waiting().get(),
                subscription.gate().isPaused() ? subscription.gate().claimPath() : null,
                subscription.settings().maxReceiveCount(),
                seconds(retryBudget),
                window.latencies().count() == 0 ? null : window(window),
                report == null || report.findings().isEmpty() ? null : report.findings());
    }

    private static Window window(ListenerWindow window) {
        WindowAdvice advice = window.advice();
        return new Window(
                window.latencies().count(),
                exact(window.latencies().p50()),
                exact(window.latencies().p95()),
                exact(window.latencies().p99()),
                exact(window.recent().p95()),
                Math.round(window.utilization() * 1_000) / 1_000.0,
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
