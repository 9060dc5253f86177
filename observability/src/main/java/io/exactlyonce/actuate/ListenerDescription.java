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
 * One listener on one queue, as the endpoint shows it. {@code null} fields are left out of the JSON.
 *
 * @param sinceStart repeats that were prevented since this instance started, for example suppressed duplicates
 * @param timeoutSeconds the handler's timeout; {@code null} if it has none
 * @param inFlight messages that this instance received and has not finished
 * @param waiting messages that wait because another delivery owns their key, or because the store does not respond
 * @param pausedBy why polling is paused: {@code claims} if the claim store does not respond, or the name of a
 *     transaction manager that does not respond. {@code null} if polling is not paused
 * @param maxReceiveCount after this number of receives, SQS moves a message to the dead-letter queue; {@code null}
 *     without a dead-letter queue
 * @param retryBudgetSeconds a message that always fails is retried for at least this time before SQS moves it to the
 *     dead-letter queue; {@code null} without a dead-letter queue
 * @param window the measured latencies; {@code null} before the first delivery was measured
 * @param audit the findings of the queue's audit; {@code null} if there are none
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
     * Measured latencies of deliveries, compared with the visibility timeout.
     *
     * @param deliveries how many deliveries were measured
     * @param utilizationRatio p95 of recent deliveries, divided by the visibility timeout. The p95 is a cautious
     *     estimate, so a few slow deliveries do not raise the ratio
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
