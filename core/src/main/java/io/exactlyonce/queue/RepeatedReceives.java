package io.exactlyonce.queue;

import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.metrics.CoreMetric;
import software.amazon.awssdk.metrics.MetricCollection;
import software.amazon.awssdk.metrics.MetricPublisher;

/**
 * Logs at WARN, at most once an hour, that a receive failed and the SDK silently repeated it.
 *
 * <p>SQS may have answered the failed receive, although the response was lost. The messages in this response are now
 * invisible, and the repeated receive does not return them. If a network device breaks every such response, all
 * messages end in the dead-letter queue, and no handler gets them.
 *
 * <p>The SDK reports its retries only to metric publishers. So this class is a metric publisher.
 */
public final class RepeatedReceives implements MetricPublisher {

    private static final Logger log = LoggerFactory.getLogger(RepeatedReceives.class);

    private final Subscription subscription;
    private final LongSupplier clock;

    /** @param clock monotonic, in nanoseconds */
    public RepeatedReceives(Subscription subscription, LongSupplier clock) {
        this.subscription = subscription;
        this.clock = clock;
    }

    @Override
    public void publish(MetricCollection call) {
        boolean isHidden = call.metricValues(CoreMetric.API_CALL_SUCCESSFUL).contains(true)
                && call.metricValues(CoreMetric.RETRY_COUNT).stream().anyMatch(repetitions -> repetitions > 0);
        if (!isHidden) {
            return;
        }
        String end = subscription.levels().lines().next(RepeatedLines.Kind.REPEATED_RECEIVE, false, clock.getAsLong());
        if (end != null) {
            String types = call.childrenWithName("ApiCallAttempt")
                    .flatMap(attempt -> attempt.metricValues(CoreMetric.ERROR_TYPE).stream())
                    .distinct()
                    .collect(Collectors.joining(", "));
            log.warn(
                    "A receive of {} failed, and the SDK repeated it (errors: {}). Messages of an answer that did not arrive are "
                            + "redelivered when their visibility timeouts end. If this line is repeated, check what is between "
                            + "the application and SQS{}",
                    subscription,
                    types,
                    end);
        }
    }

    @Override
    public void close() {}
}
