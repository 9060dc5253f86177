package io.exactlyonce.audit;

import static io.exactlyonce.audit.Finding.Severity.ERROR;
import static io.exactlyonce.audit.Finding.Severity.NOTE;
import static io.exactlyonce.audit.Finding.Severity.UNKNOWN;
import static io.exactlyonce.audit.Finding.Severity.WARNING;

import io.exactlyonce.audit.QueueFacts.Attributes;
import io.exactlyonce.audit.QueueFacts.Redrive;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rules: whether windows and leases last as long as handlers, or can be renewed; whether what cannot be handled ends where a
 * person sees it, and what can still come finds its key. They are pure: each judges what was read, and returns what is wrong, or
 * unknown; {@code null} if nothing is.
 */
public final class AuditRules {

    private static final List<Rule> ALL = List.of(
            new Rule("static-window", AuditRules::staticWindow),
            new Rule("window-latency", AuditRules::windowLatency),
            new Rule("renewal-permission", AuditRules::renewalPermission),
            new Rule("lease", AuditRules::lease),
            new Rule("connection-timeout", AuditRules::connectionTimeout),
            new Rule("database-distance", AuditRules::databaseDistance),
            new Rule("redrive-policy", AuditRules::redrivePolicy),
            new Rule("max-receive-count", AuditRules::maxReceiveCount),
            new Rule("dead-letter-retention", AuditRules::deadLetterRetention),
            new Rule("claim-retention", AuditRules::claimRetention),
            new Rule("receive-budget", AuditRules::receiveBudget),
            new Rule("in-flight", AuditRules::inFlight),
            new Rule("sqs-connections", AuditRules::connections));

    /** How many of the handler's timeouts a window must hold that nothing renews. */
    private static final int FACTOR = 6;

    private static final double IN_FLIGHT_SHARE = 0.8;
    private static final int FEWEST_RECEIVES = 3;
    private static final int ADVISED_RECEIVES = 5;
    private static final Duration SHORTEST_RETRIES = Duration.ofMinutes(1);

    /** As many as the SDK's own default has for everything. */
    private static final int SPARE_CONNECTIONS = 50;

    private static final long DAY = 86_400;

    private AuditRules() {}

    private record Rule(String id, Check check) {}

    @FunctionalInterface
    private interface Check {
        @Nullable Finding finding(QueueFacts facts);
    }

    /** Returns the ids of all rules. */
    public static List<String> ids() {
        return ALL.stream().map(Rule::id).toList();
    }

    /** Returns what the rules find, but for those that are silenced. */
    static List<Finding> findings(QueueFacts facts, Set<String> silenced) {
        List<Finding> findings = new ArrayList<>();
        for (Rule rule : ALL) {
            Finding finding = silenced.contains(rule.id()) ? null : rule.check().finding(facts);
            if (finding != null) {
                findings.add(finding);
            }
        }
        return findings;
    }

    /** Where nothing renews a window, it must hold six of the handler's timeouts, as AWS advises behind Lambda functions. */
    private static @Nullable Finding staticWindow(QueueFacts facts) {
        Duration window = facts.window();
        Duration timeout = facts.subscription().timeout();
        if (facts.terms().renews()) {
            return timeout == null || timeout.compareTo(window) <= 0 ? null : livesByRenewal(window, timeout);
        }
        if (timeout != null && window.compareTo(timeout.multipliedBy(FACTOR)) >= 0) {
            return null;
        }
        String found = "nothing is renewed (exactly-once.renewal.enabled=false), "
                + (timeout == null ? noTimeout(window) : tooShort(window, timeout));
        String remedy = "set exactly-once.renewal.enabled=true, or a window of that length";
        return new Finding("static-window", ERROR, found, FACTOR + " x the listener's timeout", remedy);
    }

    private static Finding livesByRenewal(Duration window, Duration timeout) {
        String found =
                "handlers may take %s, in a window of %s: they live by renewal".formatted(text(timeout), text(window));
        String bound = "window at least twice the usual handler's time";
        String remedy = "none if slow handlers are rare; else raise the queue's VisibilityTimeout";
        return new Finding("static-window", NOTE, found, bound, remedy);
    }

    private static String noTimeout(Duration window) {
        return "and the listener has no timeout that its visibility window (%s) could be held against; set the listener's timeout, at most to a sixth of the window (%s)"
                .formatted(text(window), text(window.dividedBy(FACTOR)));
    }

    private static String tooShort(Duration window, Duration timeout) {
        Duration least = timeout.multipliedBy(FACTOR);
        String remedy = least.compareTo(VisibilityWindow.CEILING) > 0
                ? "SQS allows 43200s at most: shorten the timeout to at most 7200s, or let windows be renewed"
                : "set the queue's VisibilityTimeout or the listener's messageVisibilitySeconds, or let windows be renewed";
        return "so the visibility window (%s) must be at least %d times the listener's timeout (%s): %s; %s"
                .formatted(text(window), FACTOR, text(timeout), text(least), remedy);
    }

    /** The first incident: handlers had come to take longer than the window. */
    private static @Nullable Finding windowLatency(QueueFacts facts) {
        boolean renews = facts.terms().renews();
        Duration p99 = facts.p99();
        if (p99 == null || p99.compareTo(facts.window()) <= 0) {
            return null;
        }
        String found = "99 of 100 deliveries take up to " + text(p99) + ", the window is " + text(facts.window());
        String remedy = renews
                ? "raise the queue's VisibilityTimeout: a renewal that fails has no time to be repeated"
                : "raise the queue's VisibilityTimeout, or set exactly-once.renewal.enabled=true";
        return new Finding("window-latency", renews ? WARNING : ERROR, found, "p99 within the window", remedy);
    }

    /** Without it nothing is renewed: the first incident again. */
    private static @Nullable Finding renewalPermission(QueueFacts facts) {
        String bound = "sqs:ChangeMessageVisibility allowed";
        String unknown = facts.renewalUnknown();
        if (unknown != null) {
            return unknown("renewal-permission", unknown, bound);
        }
        if (!facts.isRenewalDenied()) {
            return null;
        }
        String found = "sqs:ChangeMessageVisibility is denied: no window can be renewed, and no message returned";
        return new Finding("renewal-permission", ERROR, found, bound, "allow sqs:ChangeMessageVisibility on the queue");
    }

    /** A lease that ends before the window leaves the key open while its message is still hidden. */
    private static @Nullable Finding lease(QueueFacts facts) {
        String lease = text(facts.lease());
        Duration timeout = facts.subscription().timeout();
        if (!facts.terms().renews() && timeout != null && facts.lease().compareTo(timeout) < 0) {
            String found =
                    "a lease of " + lease + ", never renewed, ends before a handler's timeout of " + text(timeout);
            String remedy = "raise exactly-once.claim.lease, or set exactly-once.renewal.enabled=true";
            return new Finding("lease", ERROR, found, "lease longer than the timeout", remedy);
        }
        if (facts.lease().compareTo(facts.window()) >= 0) {
            return null;
        }
        String window = text(facts.window());
        String found =
                "a lease of " + lease + " ends before the window of " + window + ": a pause costs the claim first";
        String remedy = "raise exactly-once.claim.lease to " + window + ", or leave it out";
        return new Finding("lease", WARNING, found, "lease at least as long as the window", remedy);
    }

    /** A renewal that waits for a connection of a pool that is used up, or whose server is away, is told too late. */
    private static @Nullable Finding connectionTimeout(QueueFacts facts) {
        Duration timeout = facts.terms().connectionTimeout();
        if (timeout == null || timeout.compareTo(facts.lease()) < 0) {
            return null;
        }
        String found = "a renewal may wait for a connection for %s, the lease is %s"
                .formatted(text(timeout), text(facts.lease()));
        String remedy = "set exactly-once.datasource.connection-timeout, or the connectionTimeout of the pool marked"
                + " @ExactlyOnceDataSource, to about 3s, or raise the window or exactly-once.claim.lease";
        return new Finding("connection-timeout", WARNING, found, "a shorter wait than the lease", remedy);
    }

    /**
     * A renewal whose connection broke has half of the lease, by default, to open another one, to ask it for the types of its
     * parameters, and for its own round trip.
     */
    private static @Nullable Finding databaseDistance(QueueFacts facts) {
        Duration lease = facts.lease();
        Duration opening = facts.terms().opening().get().orElse(Duration.ZERO);
        if (!facts.terms().renews() || opening.multipliedBy(3).compareTo(lease) < 0) {
            return null;
        }
        String found =
                "opening a connection to the claims' database takes %s, the lease is %s: a renewal whose connection broke comes too late"
                        .formatted(text(opening), text(lease));
        String remedy =
                "raise the window or exactly-once.claim.lease, or keep claims in a nearer database (exactly-once.datasource.url)";
        return new Finding("database-distance", WARNING, found, "opened within a third of the lease", remedy);
    }

    /** The third incident: poison messages stayed in the queue for days. */
    private static @Nullable Finding redrivePolicy(QueueFacts facts) {
        String bound = "a dead-letter queue";
        String unknown = facts.queue().unknown();
        if (unknown != null) {
            return unknown("redrive-policy", unknown, bound);
        }
        if (facts.queue().redrive() != null) {
            return null;
        }
        String found = "no redrive policy: a message that can never be handled comes again until its retention ends,"
                + " and is gone then";
        String remedy = "set the queue's RedrivePolicy, with maxReceiveCount 5";
        return new Finding("redrive-policy", ERROR, found, bound, remedy);
    }

    /** One crash, one outage or one duplicate uses a receive up, too. */
    private static @Nullable Finding maxReceiveCount(QueueFacts facts) {
        Redrive redrive = facts.queue().redrive();
        int most = redrive == null ? ADVISED_RECEIVES : redrive.maxReceiveCount();
        if (most >= ADVISED_RECEIVES) {
            return null;
        }
        String found = "maxReceiveCount is %d: a message %s is never tried again"
                .formatted(most, most == 1 ? "whose worker crashes once" : "that fails " + most + " times");
        String bound = "at least " + FEWEST_RECEIVES + ", better " + ADVISED_RECEIVES;
        String remedy = "set maxReceiveCount to " + ADVISED_RECEIVES;
        return new Finding("max-receive-count", most < FEWEST_RECEIVES ? ERROR : WARNING, found, bound, remedy);
    }

    /** On standard queues a message keeps its first timestamp when it is moved; of a FIFO queue it gets a new one. */
    private static @Nullable Finding deadLetterRetention(QueueFacts facts) {
        if (facts.queue().redrive() == null || facts.subscription().isFifo()) {
            return null;
        }
        String bound = "the dead-letter queue's retention longer than the queue's";
        Duration source = facts.queue().retention();
        Duration dead = facts.deadLetters().retention();
        if (source == null || dead == null) {
            return unknown("dead-letter-retention", retentionUnknown(facts), bound);
        }
        if (dead.compareTo(source) > 0) {
            return null;
        }
        String found =
                "the dead-letter queue keeps messages for %s, the queue for %s: a message keeps its first timestamp, and may be deleted before a person sees it"
                        .formatted(text(dead), text(source));
        String remedy =
                "set MessageRetentionPeriod of the dead-letter queue to 1209600 (14 days), and the queue's lower";
        return new Finding("dead-letter-retention", ERROR, found, bound, remedy);
    }

    /** A message that can still come, or be redriven, must find its key. */
    private static @Nullable Finding claimRetention(QueueFacts facts) {
        String bound = "exactly-once.claim.retention at least the queue's retention and its dead-letter queue's";
        Duration source = facts.queue().retention();
        Duration dead = facts.queue().redrive() == null
                ? Duration.ZERO
                : facts.deadLetters().retention();
        if (source == null || dead == null) {
            return unknown("claim-retention", retentionUnknown(facts), bound);
        }
        Duration retention = facts.terms().retention();
        Duration longest = source.plus(dead);
        if (retention.compareTo(longest) >= 0) {
            return null;
        }
        String found = "keys are remembered for %s, messages can come for %s (%s, and %s in the dead-letter queue)"
                .formatted(text(retention), text(longest), text(source), text(dead));
        String remedy = "set exactly-once.claim.retention to " + text(longest);
        return new Finding("claim-retention", WARNING, found, bound, remedy);
    }

    private static String retentionUnknown(QueueFacts facts) {
        Attributes silent = facts.queue().retention() == null ? facts.queue() : facts.deadLetters();
        return silent.unknown() == null ? "the server does not tell MessageRetentionPeriod" : silent.unknown();
    }

    /** What another system's outage costs: deliveries that fail, or find their key held, use receives up. */
    private static @Nullable Finding receiveBudget(QueueFacts facts) {
        Redrive redrive = facts.queue().redrive();
        if (redrive == null) {
            return null;
        }
        Duration last = facts.terms().retriesLast(redrive.maxReceiveCount());
        if (last.compareTo(SHORTEST_RETRIES) >= 0) {
            return null;
        }
        String found =
                "%d receives: attempts at a message that fails go on for %s at least, then it is in the dead-letter queue"
                        .formatted(redrive.maxReceiveCount(), text(last));
        String bound = "longer than the outages of what handlers call, " + text(SHORTEST_RETRIES) + " at least";
        String remedy = "raise exactly-once.retry.initial-delay, or maxReceiveCount";
        return new Finding("receive-budget", NOTE, found, bound, remedy);
    }

    /** SQS refuses to deliver beyond it. */
    private static @Nullable Finding inFlight(QueueFacts facts) {
        int most = QueueObserver.IN_FLIGHT_CAP;
        Long messages = facts.levels().inFlight();
        if (messages == null || messages <= most * IN_FLIGHT_SHARE) {
            return null;
        }
        String bound = "80 % of " + most + ", which SQS allows for all consumers of a queue";
        String remedy = "shorten windows and handlers, or distribute the messages over several queues";
        return new Finding("in-flight", WARNING, messages + " messages are in flight", bound, remedy);
    }

    /** A poll keeps its connection for as long as it waits for messages. */
    private static @Nullable Finding connections(QueueFacts facts) {
        Integer connections = facts.connections();
        if (connections == null || facts.polls() < connections) {
            return null;
        }
        String found =
                "%d queues are polled by one SqsAsyncClient, whose HTTP client has %d connections: renewals and deletions wait until a poll is over"
                        .formatted(facts.polls(), connections);
        String remedy =
                "give it more, in a SqsAsyncClientCustomizer: NettyNioAsyncHttpClient.builder().maxConcurrency(%d)"
                        .formatted(facts.polls() + SPARE_CONNECTIONS);
        return new Finding("sqs-connections", WARNING, found, "more connections than queues that are polled", remedy);
    }

    private static Finding unknown(String rule, String why, String bound) {
        String remedy = "look at the queue by hand, or allow sqs:GetQueueAttributes on it and on its dead-letter queue";
        return new Finding(rule, UNKNOWN, why, bound, remedy);
    }

    private static String text(Duration duration) {
        if (duration.toNanosPart() != 0) {
            return duration.toMillis() + "ms";
        }
        long seconds = duration.toSeconds();
        return seconds >= DAY && seconds % DAY == 0 ? seconds / DAY + "d" : seconds + "s";
    }
}
