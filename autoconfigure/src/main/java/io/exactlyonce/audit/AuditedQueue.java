package io.exactlyonce.audit;

import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One listener on one queue, as it was last read and judged. */
final class AuditedQueue {

    private static final Logger log = LoggerFactory.getLogger(QueueAudit.class);

    final AuditReader reader;
    final AtomicBoolean isBeingRead = new AtomicBoolean();
    private volatile Subscription subscription;
    private @Nullable QueueFacts facts;
    private @Nullable AuditReport report;

    AuditedQueue(Subscription subscription, SqsQueueVisibility queue) {
        this.subscription = subscription;
        this.reader = new AuditReader(queue);
    }

    Subscription subscription() {
        return subscription;
    }

    void revise(Subscription revised) {
        subscription = revised;
    }

    synchronized @Nullable AuditReport report() {
        return report;
    }

    synchronized @Nullable QueueFacts facts() {
        return facts;
    }

    /** Logs what is new: drift, and findings that were not there before. */
    synchronized void judged(QueueFacts read, AuditReport judged) {
        QueueFacts before = facts;
        if (before != null) {
            tellDrift("queue", before.queue(), read.queue());
            tellDrift("dead-letter queue", before.deadLetters(), read.deadLetters());
        }
        AuditReport earlier = report;
        facts = read;
        report = judged;
        if (earlier == null ? !judged.findings().isEmpty() : !isSame(earlier, judged)) {
            tell(judged);
        }
    }

    private void tellDrift(String what, Fact<QueueState> before, Fact<QueueState> now) {
        QueueState old = before.value();
        QueueState found = now.value();
        if (old != null && found != null) {
            List<String> changes = old.changesUntil(found);
            if (!changes.isEmpty()) {
                log.warn("The {} of {} was changed: {}", what, subscription, String.join(", ", changes));
            }
        }
    }

    /** A count in a finding's words changes all the time. */
    private static boolean isSame(AuditReport before, AuditReport now) {
        return outline(before).equals(outline(now));
    }

    private static List<String> outline(AuditReport report) {
        return report.findings().stream()
                .map(finding -> finding.rule() + finding.severity())
                .toList();
    }

    private static void tell(AuditReport report) {
        if (report.findings().isEmpty()) {
            log.info("The audit of {} finds nothing wrong any more", report.subscription());
        } else if (report.findings().get(0).severity().compareTo(Severity.WARNING) <= 0) {
            log.warn("The audit of {} found\n{}", report.subscription(), report.table());
        } else {
            log.info("The audit of {} found\n{}", report.subscription(), report.table());
        }
    }
}
