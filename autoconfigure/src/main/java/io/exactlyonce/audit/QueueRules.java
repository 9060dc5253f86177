package io.exactlyonce.audit;

import static io.exactlyonce.audit.Severity.ERROR;
import static io.exactlyonce.audit.Severity.NOTE;
import static io.exactlyonce.audit.Severity.WARNING;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Whether what cannot be handled ends where a person sees it, and what can still come finds its key. */
final class QueueRules {

    static final List<AuditRule> ALL = List.of(
            new AuditRule("redrive-policy", QueueRules::redrivePolicy),
            new AuditRule("max-receive-count", QueueRules::maxReceiveCount),
            new AuditRule("dead-letter-retention", QueueRules::deadLetterRetention),
            new AuditRule("claim-retention", QueueRules::claimRetention),
            new AuditRule("receive-budget", QueueRules::receiveBudget),
            new AuditRule("in-flight", QueueRules::inFlight),
            new AuditRule("sqs-connections", QueueRules::connections));

    private static final double IN_FLIGHT_SHARE = 0.8;
    private static final int FEWEST_RECEIVES = 3;

    /** As many as the SDK's own default has for everything. */
    private static final int SPARE_CONNECTIONS = 50;

    private static final int ADVISED_RECEIVES = 5;
    private static final Duration SHORTEST_RETRIES = Duration.ofMinutes(1);

    private QueueRules() {}

    /** The third incident: poison messages stayed in the queue for days. */
    private static Optional<Finding> redrivePolicy(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        String bound = "a dead-letter queue";
        if (facts.queue().value() == null) {
            return Optional.of(rule.unknown(facts.queue().why(), bound));
        }
        return facts.redrive().isPresent()
                ? Optional.empty()
                : Optional.of(rule.finding(
                        ERROR,
                        "no redrive policy: a message that can never be handled comes again until its retention ends,"
                                + " and is gone then",
                        bound,
                        "set the queue's RedrivePolicy, with maxReceiveCount 5"));
    }

    /** One crash, one outage or one duplicate uses a receive up, too. */
    private static Optional<Finding> maxReceiveCount(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        return facts.redrive()
                .map(QueueState.Redrive::maxReceiveCount)
                .filter(most -> most < ADVISED_RECEIVES)
                .map(most -> rule.finding(
                        most < FEWEST_RECEIVES ? ERROR : WARNING,
                        "maxReceiveCount is %d: %s"
                                .formatted(
                                        most,
                                        most == 1
                                                ? "a message whose worker crashes once is never tried again"
                                                : "a message that fails %d times is never tried again".formatted(most)),
                        "at least %d, better %d".formatted(FEWEST_RECEIVES, ADVISED_RECEIVES),
                        "set maxReceiveCount to " + ADVISED_RECEIVES));
    }

    /** On standard queues a message keeps its first timestamp when it is moved. */
    private static Optional<Finding> deadLetterRetention(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        // A message of a FIFO queue gets a new timestamp when it is moved.
        if (facts.redrive().isEmpty() || facts.subscription().isFifo()) {
            return Optional.empty();
        }
        String bound = "the dead-letter queue's retention longer than the queue's";
        Duration source = facts.retention().value();
        Duration dead = facts.deadLetterRetention().value();
        if (source == null || dead == null) {
            return Optional.of(
                    rule.unknown((source == null ? facts.retention() : facts.deadLetterRetention()).why(), bound));
        }
        return dead.compareTo(source) > 0
                ? Optional.empty()
                : Optional.of(
                        rule.finding(
                                ERROR,
                                "the dead-letter queue keeps messages for %s, the queue for %s: a message keeps its first timestamp"
                                                .formatted(AuditRule.text(dead), AuditRule.text(source))
                                        + ", and may be deleted before a person sees it",
                                bound,
                                "set MessageRetentionPeriod of the dead-letter queue to 1209600 (14 days), and the queue's lower"));
    }

    /** A message that can still come, or be redriven, must find its key. */
    private static Optional<Finding> claimRetention(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        String bound = "exactly-once.claim.retention at least the queue's retention and its dead-letter queue's";
        Duration source = facts.retention().value();
        boolean hasDeadLetters = facts.redrive().isPresent();
        Duration dead = hasDeadLetters ? facts.deadLetterRetention().value() : Duration.ZERO;
        if (source == null || dead == null) {
            return Optional.of(
                    rule.unknown((source == null ? facts.retention() : facts.deadLetterRetention()).why(), bound));
        }
        Duration longest = source.plus(dead);
        return terms.retention().compareTo(longest) >= 0
                ? Optional.empty()
                : Optional.of(rule.finding(
                        WARNING,
                        "keys are remembered for %s, messages can come for %s (%s, and %s in the dead-letter queue)"
                                .formatted(
                                        AuditRule.text(terms.retention()),
                                        AuditRule.text(longest),
                                        AuditRule.text(source),
                                        AuditRule.text(dead)),
                        bound,
                        "set exactly-once.claim.retention to " + AuditRule.text(longest)));
    }

    /** What another system's outage costs: deliveries that fail, or find their key held, use receives up. */
    private static Optional<Finding> receiveBudget(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        return facts.redrive()
                .map(QueueState.Redrive::maxReceiveCount)
                .filter(most -> terms.retriesLast(most).compareTo(SHORTEST_RETRIES) < 0)
                .map(most -> rule.finding(
                        NOTE,
                        "%d receives: attempts at a message that fails go on for %s at least, then it is in the dead-letter queue"
                                .formatted(most, AuditRule.text(terms.retriesLast(most))),
                        "longer than the outages of what handlers call, " + AuditRule.text(SHORTEST_RETRIES)
                                + " at least",
                        "raise exactly-once.retry.initial-delay, or maxReceiveCount"));
    }

    /** SQS refuses to deliver beyond it. */
    private static Optional<Finding> inFlight(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        return facts.queue()
                .known()
                .flatMap(QueueState::inFlight)
                .filter(messages -> messages > QueueLevels.IN_FLIGHT_CAP * IN_FLIGHT_SHARE)
                .map(messages -> rule.finding(
                        WARNING,
                        "%d messages are in flight".formatted(messages),
                        "80 %% of %d, which SQS allows for all consumers of a queue"
                                .formatted(QueueLevels.IN_FLIGHT_CAP),
                        "shorten windows and handlers, or distribute the messages over several queues"));
    }

    /** A poll keeps its connection for as long as it waits for messages. */
    private static Optional<Finding> connections(AuditRule rule, QueueFacts facts, AuditTerms terms) {
        Integer connections = facts.connections();
        return connections == null || facts.polls() < connections
                ? Optional.empty()
                : Optional.of(rule.finding(
                        WARNING,
                        "%d queues are polled by one SqsAsyncClient, whose HTTP client has %d connections: renewals and deletions wait until a poll is over"
                                .formatted(facts.polls(), connections),
                        "more connections than queues that are polled",
                        "give it more, in a SqsAsyncClientCustomizer: NettyNioAsyncHttpClient.builder().maxConcurrency(%d)"
                                .formatted(facts.polls() + SPARE_CONNECTIONS)));
    }
}
