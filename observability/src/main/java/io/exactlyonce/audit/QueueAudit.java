package io.exactlyonce.audit;

import io.exactlyonce.audit.Finding.Severity;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.SubscriptionCheck;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Audits the queues of running listeners, and logs new findings and changed attributes. A queue is audited at each
 * {@link #tick()}. In addition, it is audited one second after its listener has started or has read changed attributes.
 */
public final class QueueAudit implements DeliveryObserver, SubscriptionCheck {

    private static final Logger log = LoggerFactory.getLogger(QueueAudit.class);

    /** The audit waits a little after the listener's start, because the application is busy while it starts. */
    private static final Duration AFTER_START = Duration.ofSeconds(1);

    private static final Duration LONGEST_RETRIES = Duration.ofDays(14);

    private final AuditMode mode;
    private final Set<String> silenced;
    private final Settings settings;
    private final Function<Subscription, Optional<Duration>> p99;
    private final List<QueueObserver> observers;
    private final EngineScheduler scheduler;
    private final Executor thread;
    private final Map<Subscription, AuditedQueue> queues = new ConcurrentHashMap<>();
    private final Map<Subscription, AuditReport> reports = new ConcurrentHashMap<>();

    /**
     * The application's settings that the rules compare with queues.
     *
     * @param renews whether visibility timeouts and leases are renewed
     * @param policy settings for claims and retries, which a listener can override
     * @param connectionTimeout how long a claim waits for a connection; empty if not configured
     * @param shortestConnectTime the shortest time that opening a connection to the claim database has taken; empty if
     *     unknown, or without a database
     */
    public record Settings(
            boolean renews,
            OutcomePolicy policy,
            Supplier<Optional<Duration>> connectionTimeout,
            Supplier<Optional<Duration>> shortestConnectTime) {

        /** Returns the settings of a listener. */
        private Settings of(Subscription subscription) {
            return new Settings(renews, policy.of(subscription.listener()), connectionTimeout, shortestConnectTime);
        }

        /** Returns the minimum time until a message that always fails has used up its receives. */
        Duration retryBudget(int maxReceiveCount) {
            Duration sum = Duration.ZERO;
            for (int receive = 1; receive < maxReceiveCount && sum.compareTo(LONGEST_RETRIES) < 0; receive++) {
                sum = sum.plus(policy.backoff().least(receive));
            }
            return sum;
        }
    }

    /**
     * @param silenced ids of rules whose findings are ignored
     * @param p99 returns the 99th percentile of a listener's latencies; empty if too few deliveries were measured
     * @param observers receive the numbers of messages after each audit
     * @param scheduler runs the audits that follow a listener's start or a changed attribute
     */
    public QueueAudit(
            AuditMode mode,
            Set<String> silenced,
            Settings terms,
            Function<Subscription, Optional<Duration>> p99,
            List<QueueObserver> observers,
            EngineScheduler scheduler) {
        this.mode = mode;
        this.silenced = Set.copyOf(silenced);
        this.settings = terms;
        this.p99 = p99;
        this.observers = List.copyOf(observers);
        this.scheduler = scheduler;
        this.thread = scheduler.thread("exactly-once-audit-start-1");
    }

    /**
     * Audits a queue before its listener receives any messages, if the mode is {@link AuditMode#FAIL}. Takes a few
     * seconds at most.
     *
     * @throws QueueAuditException if there is a finding of severity {@link Severity#ERROR}
     */
    @Override
    public void require(Subscription subscription) {
        AuditedQueue queue = mode == AuditMode.FAIL ? audited(subscription) : null;
        if (queue != null) {
            AuditReport report = judge(subscription, queue);
            if (!report.errors().isEmpty()) {
                unsubscribed(subscription);
                throw new QueueAuditException(report);
            }
        }
    }

    @Override
    public void subscribed(Subscription subscription) {
        judgeSoon(subscription);
    }

    @Override
    public void changed(Subscription subscription) {
        judgeSoon(subscription);
    }

    private void judgeSoon(Subscription subscription) {
        AuditedQueue queue = audited(subscription);
        if (queue != null) {
            scheduler.after(AFTER_START, () -> thread.execute(() -> begin(subscription, queue)));
        }
    }

    private void begin(Subscription subscription, AuditedQueue queue) {
        Boundary.guardPeriodic("The first audit of a queue", () -> {
            if (queues.get(subscription) == queue) {
                judge(subscription, queue);
            }
        });
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        queues.remove(subscription);
        reports.remove(subscription);
        Boundary.notifySafely(observers, observer -> observer.forgotten(subscription));
    }

    /** Audits all queues again. */
    public void tick() {
        queues.forEach(this::judge);
    }

    /** Returns the latest report on each queue that was audited. */
    public List<AuditReport> reports() {
        return List.copyOf(reports.values());
    }

    /** Returns the latest report on a listener's queue; empty before the first audit. */
    public Optional<AuditReport> report(Subscription subscription) {
        return Optional.ofNullable(reports.get(subscription));
    }

    /**
     * Returns the minimum time from a message's first receive until SQS moves it to the dead-letter queue, if its
     * handler always fails. Empty without a dead-letter queue.
     */
    public Optional<Duration> retryBudget(Subscription subscription) {
        return Optional.ofNullable(subscription.settings().maxReceiveCount())
                .map(settings.of(subscription)::retryBudget);
    }

    private @Nullable AuditedQueue audited(Subscription subscription) {
        return mode != AuditMode.OFF && subscription.visibility() instanceof SqsQueue queue
                ? queues.computeIfAbsent(subscription, key -> new AuditedQueue(key, queue))
                : null;
    }

    private AuditReport judge(Subscription subscription, AuditedQueue queue) {
        synchronized (queue) {
            int polls = queues.values().stream()
                    .filter(other -> other.client() == queue.client())
                    .mapToInt(AuditedQueue::mostPolls)
                    .sum();
            QueueFacts facts = queue.read(
                    settings.of(subscription), polls, p99.apply(subscription).orElse(null));
            AuditReport report = new AuditReport(facts.subscription(), AuditRules.findings(facts, silenced));
            // A listener may be stopped while its queue is audited. If its queue was already removed from this map, no
            // report is stored. If not, the stopping thread waits until the report is stored, and then removes the
            // report.
            queues.computeIfPresent(subscription, (known, read) -> {
                AuditReport before = reports.put(subscription, report);
                if (!report.outline().equals(before == null ? List.of() : before.outline())) {
                    log(report);
                }
                Boundary.notifySafely(observers, observer -> observer.observed(subscription, facts.levels()));
                return read;
            });
            return report;
        }
    }

    private static void log(AuditReport report) {
        if (report.findings().isEmpty()) {
            log.info("The audit of {} found no problems", report.subscription());
        } else if (report.findings().get(0).severity().compareTo(Severity.WARNING) <= 0) {
            log.warn("The audit of {} found\n{}", report.subscription(), report.table());
        } else {
            log.info("The audit of {} found\n{}", report.subscription(), report.table());
        }
    }
}
