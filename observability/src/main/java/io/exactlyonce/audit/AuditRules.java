package io.exactlyonce.audit;

import static io.exactlyonce.audit.Finding.Severity.ERROR;
import static io.exactlyonce.audit.Finding.Severity.NOTE;
import static io.exactlyonce.audit.Finding.Severity.UNKNOWN;
import static io.exactlyonce.audit.Finding.Severity.WARNING;

import io.exactlyonce.audit.Finding.Severity;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.queue.QueueAttributes.Redrive;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * Finds settings of a queue and its listener that risk lost messages or repeated effects. For example, the visibility
 * timeout may be shorter than the handler's timeout, or the queue may have no dead-letter queue.
 *
 * <p>The rules read nothing from SQS. They compare the values in {@link QueueFacts}.
 */
public final class AuditRules {

    private static final int LONGEST_POLICY = 200;

    private static final String IDS =
            "static-window window-latency renewal-permission lease connection-timeout database-distance"
                    + " redrive-policy max-receive-count dead-letter-retention claim-retention receive-budget in-flight sqs-connections poll-timeout";

    /**
     * Without renewal, the visibility timeout should be at least six times the handler's timeout. AWS gives this advice
     * for Lambda functions.
     */
    private static final int FACTOR = 6;

    private static final double IN_FLIGHT_SHARE = 0.8;
    private static final int FEWEST_RECEIVES = 3;
    private static final int ADVISED_RECEIVES = 5;
    private static final Duration SHORTEST_RETRIES = Duration.ofMinutes(1);

    private static final long DAY = 86_400;

    private final QueueFacts facts;
    private final Duration visibilityTimeout;
    private final Duration lease;
    private final boolean renews;
    private final @Nullable Duration timeout;
    private final List<Finding> findings = new ArrayList<>();

    private AuditRules(QueueFacts facts) {
        this.facts = facts;
        this.visibilityTimeout = facts.subscription().settings().window().length();
        this.lease =
                Objects.requireNonNullElse(facts.settings().policy().terms().lease(), visibilityTimeout);
        this.renews = facts.settings().renews();
        this.timeout = facts.subscription().timeout();
    }

    /** Returns the ids of all rules. */
    public static List<String> ids() {
        return List.of(IDS.split(" "));
    }

    /** Returns the findings of all rules that are not silenced. */
    static List<Finding> findings(QueueFacts facts, Set<String> silenced) {
        AuditRules rules = new AuditRules(facts);
        rules.judgeWindow();
        rules.judgeLease();
        rules.judgeReceives();
        rules.judgeRetention();
        rules.judgeLoad();
        rules.findings.addAll(ClientRules.findings(facts.client()));
        rules.findings.removeIf(finding -> silenced.contains(finding.rule()));
        return rules.findings;
    }

    /**
     * Checks that the visibility timeout is long enough for the handler, and that the listener may renew it. If a
     * visibility timeout expires while the handler runs, SQS redelivers the message.
     */
    private void judgeWindow() {
        if (!renews && (timeout == null || isShorter(visibilityTimeout, timeout.multipliedBy(FACTOR)))) {
            String found = "renewal is off (exactly-once.renewal.enabled=false), "
                    + (timeout == null ? noTimeout() : tooShort(timeout));
            String remedy = "set exactly-once.renewal.enabled=true, or a visibility timeout of that length";
            add("static-window", ERROR, found, FACTOR + " x the listener's timeout", remedy);
        } else if (renews && timeout != null && isShorter(visibilityTimeout, timeout)) {
            String found = say(
                    "handlers may take %s, the visibility timeout is %s: slow ones need renewal",
                    timeout, visibilityTimeout);
            String remedy = "none if slow handlers are rare; else raise the queue's VisibilityTimeout";
            add("static-window", NOTE, found, "visibility timeout at least twice the usual handler's time", remedy);
        }
        Duration p99 = facts.p99();
        if (p99 != null && isShorter(visibilityTimeout, p99)) {
            String found =
                    say("99 of 100 deliveries take up to %s, the visibility timeout is %s", p99, visibilityTimeout);
            String remedy = renews
                    ? "raise the queue's VisibilityTimeout: a failed renewal cannot be retried in time"
                    : "raise the queue's VisibilityTimeout, or set exactly-once.renewal.enabled=true";
            add("window-latency", renews ? WARNING : ERROR, found, "p99 within the visibility timeout", remedy);
        }
        String refusal = facts.renewalRefusal();
        String bound = "sqs:ChangeMessageVisibility allowed";
        if (QueueFacts.DENIED.equals(refusal)) {
            String found = "sqs:ChangeMessageVisibility is denied: messages cannot be renewed or returned";
            add("renewal-permission", ERROR, found, bound, "allow sqs:ChangeMessageVisibility on the queue");
        } else if (refusal != null) {
            String why = "whether sqs:ChangeMessageVisibility is allowed could not be read: " + refusal;
            addUnknown("renewal-permission", why, bound);
        }
    }

    private String noTimeout() {
        return say(
                "and the listener has no timeout to compare with its visibility timeout (%s); set the listener's timeout to at most a sixth of that (%s)",
                visibilityTimeout, visibilityTimeout.dividedBy(FACTOR));
    }

    private String tooShort(Duration timeout) {
        Duration least = timeout.multipliedBy(FACTOR);
        String remedy = isShorter(VisibilityWindow.CEILING, least)
                ? "SQS allows 43200s at most: shorten the timeout to at most 7200s, or enable renewal"
                : "set the queue's VisibilityTimeout or the listener's messageVisibilitySeconds, or enable renewal";
        return say(
                "so the visibility timeout (%s) must be at least %s times the listener's timeout (%s): %s; %s",
                visibilityTimeout, FACTOR, timeout, least, remedy);
    }

    /**
     * Checks that the lease is long enough. If a lease expires before the visibility timeout, another delivery can
     * claim the key while the message of the first delivery is still invisible.
     */
    private void judgeLease() {
        if (!renews && timeout != null && isShorter(lease, timeout)) {
            String found =
                    say("a lease of %s, without renewal, expires before a handler's timeout of %s", lease, timeout);
            String remedy = "raise exactly-once.claim.lease, or set exactly-once.renewal.enabled=true";
            add("lease", ERROR, found, "lease longer than the timeout", remedy);
        } else if (isShorter(lease, visibilityTimeout)) {
            String found = say(
                    "a lease of %s expires before the visibility timeout of %s: a pause loses the claim first",
                    lease, visibilityTimeout);
            String remedy = say("raise exactly-once.claim.lease to %s, or remove it", visibilityTimeout);
            add("lease", WARNING, found, "lease at least as long as the visibility timeout", remedy);
        }
        // The connection timeout should be shorter than the lease. Otherwise, the lease may expire while its renewal
        // still waits for a connection.
        Duration wait = facts.settings().connectionTimeout().get().orElse(null);
        if (wait != null && !isShorter(wait, lease)) {
            String found = say("a renewal may wait for a connection for %s, the lease is %s", wait, lease);
            String remedy =
                    "set exactly-once.datasource.connection-timeout, or the connectionTimeout of the pool marked"
                            + " @ExactlyOnceDataSource, to about 3s, or raise VisibilityTimeout or exactly-once.claim.lease";
            add("connection-timeout", WARNING, found, "a shorter wait than the lease", remedy);
        }
        // Opening a connection should take less than a third of the lease. By default, a lease is renewed when half of
        // it is left. If the connection is broken, the renewal has to open a new one first. Opening and renewal
        // together must not take longer than that half.
        Duration connecting = facts.settings().shortestConnectTime().get().orElse(Duration.ZERO);
        if (renews && !isShorter(connecting.multipliedBy(3), lease)) {
            String found = say(
                    "opening a connection to the claim database takes at least %s, the lease is %s: a renewal whose connection broke comes too late",
                    connecting, lease);
            String remedy =
                    "raise VisibilityTimeout or exactly-once.claim.lease, or keep claims in a nearer database (exactly-once.datasource.url)";
            add("database-distance", WARNING, found, "opened within a third of the lease", remedy);
        }
    }

    /**
     * Checks for a dead-letter queue. Without one, a message that always fails is redelivered until its retention ends,
     * and is then lost.
     */
    private void judgeReceives() {
        Redrive redrive = facts.queue().redrive();
        if (redrive != null) {
            judgeReceives(redrive.maxReceiveCount());
        } else if (facts.unknown() != null) {
            addUnknown("redrive-policy", facts.unknown(), "a dead-letter queue");
        } else {
            String policy = OneLine.of(facts.queue().text(QueueAttributeName.REDRIVE_POLICY), LONGEST_POLICY);
            String found =
                    (policy.isEmpty() ? "no redrive policy" : "a redrive policy that cannot be read (" + policy + ")")
                            + ": a message that always fails is redelivered until its retention ends, and is then lost";
            String remedy = "set the queue's RedrivePolicy, with maxReceiveCount 5";
            add("redrive-policy", ERROR, found, "a dead-letter queue", remedy);
        }
    }

    /**
     * Checks that {@code maxReceiveCount} is high enough. Crashes, duplicates and outages of other systems use up
     * receives, too, because SQS counts each receive.
     */
    private void judgeReceives(int most) {
        if (most < ADVISED_RECEIVES) {
            String found = "maxReceiveCount is %d: a message %s is never retried"
                    .formatted(most, most == 1 ? "whose worker crashes once" : "that fails " + most + " times");
            Severity severity = most < FEWEST_RECEIVES ? ERROR : WARNING;
            add("max-receive-count", severity, found, "at least 3, better 5", "set maxReceiveCount to 5");
        }
        Duration last = facts.settings().retryBudget(most);
        if (isShorter(last, SHORTEST_RETRIES)) {
            String found = say(
                    "%s receives: a failing message is retried for at least %s, then moves to the dead-letter queue",
                    most, last);
            String bound = "longer than the outages of systems that handlers call, at least 60s";
            add("receive-budget", NOTE, found, bound, "raise exactly-once.retry.initial-delay, or maxReceiveCount");
        }
    }

    /**
     * Checks two retentions. Completed keys must be remembered for as long as SQS can deliver a duplicate. A standard
     * queue's dead-letter queue must keep messages longer than the queue itself.
     */
    private void judgeRetention() {
        boolean redrives = facts.queue().redrive() != null;
        // SQS deletes a message when it is older than the queue's retention. The age of a standard queue's message is
        // counted from when it was sent, even after the message has moved to the dead-letter queue. On a FIFO queue,
        // the move sets the age to zero.
        boolean keepsTimestamp = redrives && !facts.subscription().isFifo();
        String deadBound = "the dead-letter queue's retention longer than the queue's";
        String bound = "exactly-once.claim.retention at least the queue's retention and its dead-letter queue's";
        Duration source = facts.queue().retention();
        Duration dead = redrives ? facts.deadLetters().retention() : Duration.ZERO;
        if (source == null || dead == null) {
            String unknown =
                    Objects.requireNonNullElse(facts.unknown(), "the server does not report MessageRetentionPeriod");
            if (keepsTimestamp) {
                addUnknown("dead-letter-retention", unknown, deadBound);
            }
            addUnknown("claim-retention", unknown, bound);
            return;
        }
        if (keepsTimestamp && !isShorter(source, dead)) {
            String found = say(
                    "the dead-letter queue keeps messages for %s, the queue for %s: a message keeps its first timestamp, and may be deleted before an operator sees it",
                    dead, source);
            String remedy =
                    "set MessageRetentionPeriod of the dead-letter queue to 1209600 (14 days), and the queue's lower";
            add("dead-letter-retention", ERROR, found, deadBound, remedy);
        }
        Duration retention = facts.settings().policy().terms().retention();
        Duration longest = source.plus(dead);
        if (retention != null && isShorter(retention, longest)) {
            String found = say(
                    "keys are remembered for %s, messages can arrive for %s (%s, and %s in the dead-letter queue)",
                    retention, longest, source, dead);
            String remedy = say("set exactly-once.claim.retention to %s, or the listener's own", longest);
            add("claim-retention", WARNING, found, bound, remedy);
        }
    }

    /** Warns before a queue has so many messages in flight that SQS delivers no more. The quota is 120,000. */
    private void judgeLoad() {
        Long messages = facts.levels().inFlight();
        if (messages != null && messages > QueueObserver.IN_FLIGHT_CAP * IN_FLIGHT_SHARE) {
            String bound = "80 % of 120000, which SQS allows for all consumers of a queue";
            String remedy = "shorten visibility timeouts and handlers, or distribute the messages over several queues";
            add("in-flight", WARNING, messages + " messages are in flight", bound, remedy);
        }
    }

    private void add(String rule, Severity severity, String found, String bound, String remedy) {
        findings.add(new Finding(rule, severity, found, bound, remedy));
    }

    private void addUnknown(String rule, String why, String bound) {
        String remedy = "check the queue manually, or allow sqs:GetQueueAttributes on it and on its dead-letter queue";
        add(rule, UNKNOWN, why, bound, remedy);
    }

    private static boolean isShorter(Duration one, Duration other) {
        return one.compareTo(other) < 0;
    }

    /** Formats a text like {@link String#format}. Durations become readable, for example {@code 30s}. */
    static String say(String text, Object... values) {
        return text.formatted(Stream.of(values)
                .map(value -> value instanceof Duration duration ? text(duration) : value)
                .toArray());
    }

    private static String text(Duration duration) {
        if (duration.toNanosPart() != 0) {
            return duration.toMillis() + "ms";
        }
        long seconds = duration.toSeconds();
        return seconds >= DAY && seconds % DAY == 0 ? seconds / DAY + "d" : seconds + "s";
    }
}
