package io.exactlyonce.audit;

import static io.exactlyonce.audit.Severity.ERROR;
import static io.exactlyonce.audit.Severity.NOTE;
import static io.exactlyonce.audit.Severity.WARNING;

import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Whether windows and leases last as long as handlers, or can be renewed. */
final class WindowRules {

    static final List<AuditRule> ALL = List.of(
            new AuditRule("static-window", WindowRules::staticWindow),
            new AuditRule("window-latency", WindowRules::windowLatency),
            new AuditRule("renewal-permission", WindowRules::renewalPermission),
            new AuditRule("lease", WindowRules::lease),
            new AuditRule("connection-timeout", WindowRules::connectionTimeout),
            new AuditRule("database-distance", WindowRules::databaseDistance));

    /** How many of the handler's timeouts a window must hold that nothing renews. */
    private static final int FACTOR = 6;

    private WindowRules() {}

    /** Where nothing renews a window, it must hold six of the handler's timeouts, as AWS advises behind Lambda functions. */
    private static Optional<Finding> staticWindow(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        Duration window = facts.subscription().window().length();
        Duration timeout = facts.subscription().timeout();
        if (!terms.renews()) {
            return timeout != null && window.compareTo(timeout.multipliedBy(FACTOR)) >= 0
                    ? Optional.empty()
                    : Optional.of(rule.finding(
                            ERROR,
                            "nothing is renewed (exactly-once.renewal.enabled=false), "
                                    + (timeout == null ? noTimeout(window) : tooShort(window, timeout)),
                            FACTOR + " x the listener's timeout",
                            "set exactly-once.renewal.enabled=true, or a window of that length"));
        }
        return timeout != null && timeout.compareTo(window) > 0
                ? Optional.of(rule.finding(
                        NOTE,
                        "handlers may take %s, in a window of %s: they live by renewal"
                                .formatted(AuditRule.text(timeout), AuditRule.text(window)),
                        "window at least twice the usual handler's time",
                        "none if slow handlers are rare; else raise the queue's VisibilityTimeout"))
                : Optional.empty();
    }

    private static String noTimeout(Duration window) {
        return "and the listener has no timeout that its visibility window (%s) could be held against; set the listener's timeout, at most to a sixth of the window (%s)"
                .formatted(AuditRule.text(window), AuditRule.text(window.dividedBy(FACTOR)));
    }

    private static String tooShort(Duration window, Duration timeout) {
        Duration least = timeout.multipliedBy(FACTOR);
        String remedy = least.compareTo(VisibilityWindow.CEILING) > 0
                ? "SQS allows 43200s at most: shorten the timeout to at most 7200s, or let windows be renewed"
                : "set the queue's VisibilityTimeout or the listener's messageVisibilitySeconds, or let windows be renewed";
        return "so the visibility window (%s) must be at least %d times the listener's timeout (%s): %s; %s"
                .formatted(AuditRule.text(window), FACTOR, AuditRule.text(timeout), AuditRule.text(least), remedy);
    }

    /** The first incident: handlers had come to take longer than the window. */
    private static Optional<Finding> windowLatency(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        Duration p99 = facts.p99();
        Duration window = facts.subscription().window().length();
        return p99 == null || p99.compareTo(window) <= 0
                ? Optional.empty()
                : Optional.of(rule.finding(
                        terms.renews() ? WARNING : ERROR,
                        "99 of 100 deliveries take up to %s, the window is %s"
                                .formatted(AuditRule.text(p99), AuditRule.text(window)),
                        "p99 within the window",
                        terms.renews()
                                ? "raise the queue's VisibilityTimeout: a renewal that fails has no time to be repeated"
                                : "raise the queue's VisibilityTimeout, or set exactly-once.renewal.enabled=true"));
    }

    /** Without it nothing is renewed: the first incident again. */
    private static Optional<Finding> renewalPermission(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        String bound = "sqs:ChangeMessageVisibility allowed";
        Boolean allowed = facts.mayRenew().value();
        if (allowed == null) {
            return Optional.of(rule.unknown(facts.mayRenew().why(), bound));
        }
        return allowed
                ? Optional.empty()
                : Optional.of(rule.finding(
                        ERROR,
                        "sqs:ChangeMessageVisibility is denied: no window can be renewed, and no message returned",
                        bound,
                        "allow sqs:ChangeMessageVisibility on the queue"));
    }

    /** A renewal that waits for a connection of a pool that is used up, or whose server is away, is told too late. */
    private static Optional<Finding> connectionTimeout(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        Duration timeout = terms.connectionTimeout();
        Duration lease = lease(facts, terms);
        return timeout == null || timeout.compareTo(lease) < 0
                ? Optional.empty()
                : Optional.of(
                        rule.finding(
                                WARNING,
                                "a renewal may wait for a connection for %s, the lease is %s"
                                        .formatted(AuditRule.text(timeout), AuditRule.text(lease)),
                                "a shorter wait than the lease",
                                "set exactly-once.datasource.connection-timeout, or the connectionTimeout of the pool marked"
                                        + " @ExactlyOnceDataSource, to about 3s, or raise the window or exactly-once.claim.lease"));
    }

    /**
     * A renewal whose connection broke has half of the lease, by default, to open another one, to ask it for the types of its
     * parameters, and for its own round trip.
     */
    private static Optional<Finding> databaseDistance(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        Duration lease = lease(facts, terms);
        return terms.opening()
                .time()
                .filter(opening -> terms.renews() && opening.multipliedBy(3).compareTo(lease) >= 0)
                .map(
                        opening -> rule.finding(
                                WARNING,
                                "opening a connection to the claims' database takes %s, the lease is %s: a renewal whose connection broke comes too late"
                                        .formatted(AuditRule.text(opening), AuditRule.text(lease)),
                                "opened within a third of the lease",
                                "raise the window or exactly-once.claim.lease, or keep claims in a nearer database (exactly-once.datasource.url)"));
    }

    private static Duration lease(QueueFacts facts, AuditTerms terms) {
        return terms.lease() == null ? facts.subscription().window().length() : terms.lease();
    }

    /** A lease that ends before the window leaves the key open while its message is still hidden. */
    private static Optional<Finding> lease(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        Duration window = facts.subscription().window().length();
        Duration lease = lease(facts, terms);
        Duration timeout = facts.subscription().timeout();
        if (!terms.renews() && timeout != null && lease.compareTo(timeout) < 0) {
            return Optional.of(rule.finding(
                    ERROR,
                    "a lease of %s, never renewed, ends before a handler's timeout of %s"
                            .formatted(AuditRule.text(lease), AuditRule.text(timeout)),
                    "lease longer than the timeout",
                    "raise exactly-once.claim.lease, or set exactly-once.renewal.enabled=true"));
        }
        return lease.compareTo(window) < 0
                ? Optional.of(rule.finding(
                        WARNING,
                        "a lease of %s ends before the window of %s: a pause costs the claim first"
                                .formatted(AuditRule.text(lease), AuditRule.text(window)),
                        "lease at least as long as the window",
                        "raise exactly-once.claim.lease to " + AuditRule.text(window) + ", or leave it out"))
                : Optional.empty();
    }
}
