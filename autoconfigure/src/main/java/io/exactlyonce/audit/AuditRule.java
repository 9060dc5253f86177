package io.exactlyonce.audit;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A rule. It is pure: it judges what was read.
 *
 * @param id by which it is silenced
 * @param check what it does
 */
public record AuditRule(String id, Check check) {

    static final List<AuditRule> ALL =
            Stream.of(WindowRules.ALL, QueueRules.ALL).flatMap(List::stream).toList();

    private static final long DAY = 86_400;

    /** Judges a queue. */
    @FunctionalInterface
    interface Check {

        /** Returns what is wrong, or unknown; empty if nothing is. */
        Optional<Finding> check(AuditRule rule, QueueFacts facts, AuditTerms terms);
    }

    /** Returns the ids of all rules. */
    public static List<String> ids() {
        return ALL.stream().map(AuditRule::id).toList();
    }

    /** Returns what is wrong, or unknown; empty if nothing is. */
    Optional<Finding> check(QueueFacts facts, AuditTerms terms) {
        return check.check(this, facts, terms);
    }

    Finding finding(Severity severity, String found, String bound, String remedy) {
        return new Finding(id, severity, found, bound, remedy);
    }

    Finding unknown(String why, String bound) {
        return new Finding(
                id,
                Severity.UNKNOWN,
                why,
                bound,
                "look at the queue by hand, or allow sqs:GetQueueAttributes on it and on its dead-letter queue");
    }

    static String text(Duration duration) {
        if (duration.toNanosPart() != 0) {
            return duration.toMillis() + "ms";
        }
        long seconds = duration.toSeconds();
        return seconds >= DAY && seconds % DAY == 0 ? seconds / DAY + "d" : seconds + "s";
    }
}
