package io.exactlyonce.audit;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.time.Timer;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Judges the queues of running listeners: a second after a listener starts or what it goes by has changed, and with each {@link
 * #tick()}. Attributes that were changed meanwhile are logged with their old and new values.
 */
public final class QueueAudit implements DeliveryObserver {

    /** An application has enough to do while it starts; what is only told can wait for so long. */
    private static final Duration AFTER_START = Duration.ofSeconds(1);

    private final AuditMode mode;
    private final Set<String> silenced;
    private final AuditTerms terms;
    private final DeliveryTimes times;
    private final List<QueueObserver> observers;
    private final Timer timer;
    private final Map<Subscription, AuditedQueue> queues = new ConcurrentHashMap<>();

    /**
     * @param silenced ids of rules that are left out
     * @param terms the application's settings
     * @param times what has been measured
     * @param observers learn what is read
     * @param timer for the first look at a queue
     */
    public QueueAudit(
            AuditMode mode,
            Set<String> silenced,
            AuditTerms terms,
            DeliveryTimes times,
            List<QueueObserver> observers,
            Timer timer) {
        this.mode = mode;
        this.silenced = Set.copyOf(silenced);
        this.terms = terms;
        this.times = times;
        this.observers = List.copyOf(observers);
        this.timer = timer;
    }

    /**
     * Judges a queue before its listener receives anything, if findings are to stop that; takes some seconds at most.
     *
     * @throws QueueAuditException if there is a finding of severity {@link Severity#ERROR}
     */
    public void require(Subscription subscription) {
        if (mode == AuditMode.FAIL) {
            audited(subscription).ifPresent(queue -> {
                AuditReport report = read(queue).join();
                if (!report.errors().isEmpty()) {
                    unsubscribed(subscription);
                    throw new QueueAuditException(report);
                }
            });
        }
    }

    @Override
    public void subscribed(Subscription subscription) {
        audited(subscription).ifPresent(queue -> {
            queue.revise(subscription);
            timer.after(AFTER_START, () -> {
                if (queues.get(subscription) == queue) {
                    readIfIdle(queue);
                }
            });
        });
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        queues.remove(subscription);
        observers.forEach(observer -> observer.forgotten(subscription));
    }

    /** Reads and judges all queues again; does not wait for the answers. */
    public void tick() {
        queues.values().forEach(this::readIfIdle);
    }

    /** Returns the last report on each listener and queue that is known already. */
    public List<AuditReport> reports() {
        return queues.values().stream()
                .map(AuditedQueue::report)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Returns the last report on a listener's queue, if there is one already. */
    public Optional<AuditReport> report(Subscription subscription) {
        return Optional.ofNullable(queues.get(subscription)).map(AuditedQueue::report);
    }

    /** Returns the ARN of the dead-letter queue of a listener's queue, if it has one and that is known. */
    public Optional<String> deadLetterQueue(Subscription subscription) {
        return Optional.ofNullable(queues.get(subscription))
                .map(AuditedQueue::facts)
                .flatMap(QueueFacts::redrive)
                .map(QueueState.Redrive::target);
    }

    /** Returns for how long, at least, attempts at a message that fails go on before it is dead; empty without a dead-letter queue. */
    public Optional<Duration> retriesLast(Subscription subscription) {
        return Optional.ofNullable(subscription.maxReceiveCount()).map(terms::retriesLast);
    }

    private Optional<AuditedQueue> audited(Subscription subscription) {
        return mode != AuditMode.OFF && subscription.visibility() instanceof SqsQueueVisibility queue
                ? Optional.of(queues.computeIfAbsent(subscription, key -> new AuditedQueue(key, queue)))
                : Optional.empty();
    }

    private void readIfIdle(AuditedQueue queue) {
        if (queue.isBeingRead.compareAndSet(false, true)) {
            var unused = read(queue).whenComplete((report, failure) -> queue.isBeingRead.set(false));
        }
    }

    private CompletableFuture<AuditReport> read(AuditedQueue queue) {
        Subscription subscription = queue.subscription();
        return queue.reader
                .read(subscription, polls(queue), times.p99(subscription).orElse(null))
                .thenApply(facts -> judge(queue, facts));
    }

    private int polls(AuditedQueue queue) {
        return (int) queues.values().stream()
                .filter(other -> other.reader.client() == queue.reader.client())
                .count();
    }

    private AuditReport judge(AuditedQueue queue, QueueFacts facts) {
        AuditReport report = new AuditReport(
                facts.subscription(),
                AuditRule.ALL.stream()
                        .filter(rule -> !silenced.contains(rule.id()))
                        .flatMap(rule -> rule.check(facts, terms).stream())
                        .toList());
        queue.judged(facts, report);
        // Not of a listener that has stopped meanwhile: removing it waits for this.
        queues.computeIfPresent(facts.subscription(), (known, read) -> {
            observers.forEach(observer -> observer.observed(facts.subscription(), QueueLevels.of(facts)));
            return read;
        });
        return report;
    }
}
