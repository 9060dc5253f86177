package io.exactlyonce.chaos.history;

import java.util.List;
import java.util.Map;

/**
 * The result of a {@link Checker}.
 *
 * @param duplicateEffects repeats of a {@code DATABASE} effect, repeats at a partner that honours the key, and all
 *     other repeats without an explanation
 * @param lost keys whose message is gone, although they are not completed with their effect, not parked, and not in the
 *     dead-letter queue
 * @param stuck keys that are not done although their message still exists
 * @param explained anomalies that a fault explains; they count separately, and are no breach
 * @param deadLetters the number of keys in the dead-letter queue by reason; they are no breach, but too many with the
 *     same reason may be one
 */
public record Verdict(
        Counts counts,
        long duplicateEffects,
        long lost,
        long stuck,
        List<Violation> violations,
        List<ExplainedAnomaly> explained,
        Map<String, Long> deadLetters) {

    public Verdict {
        violations = List.copyOf(violations);
        explained = List.copyOf(explained);
        deadLetters = Map.copyOf(deadLetters);
    }

    /** Returns whether every invariant held. */
    public boolean holds() {
        return violations.isEmpty();
    }

    /** Returns the number of anomalies that a cause explains. */
    public long explainedBy(ExplainedAnomaly.Cause cause) {
        return explained.stream().filter(one -> one.cause() == cause).count();
    }

    /** Returns the last output line of the run. */
    public String line(long seed) {
        return "CHAOS seed=%d %s | duplicate effects=%d lost=%d stuck=%d"
                .formatted(seed, counts, duplicateEffects, lost, stuck);
    }
}
