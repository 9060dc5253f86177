package io.exactlyonce.chaos.history;

import java.util.List;
import java.util.Map;

/**
 * What a {@link Checker} says of a run.
 *
 * @param duplicateEffects repeats of a {@code DATABASE} effect, repeats at a partner that honours the key, and all other
 *     repeats that nothing explains
 * @param lost keys whose message is gone, though they are neither completed with their effect, nor parked, nor in the
 *     dead-letter queue
 * @param stuck keys that are not done although their message is not gone
 * @param explained what a fault explains: counted apart, and no breach
 * @param deadLetters keys in the dead-letter queue, counted by reason: no breach, but too many of one reason may be one
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

    /** Returns how many things one cause explains. */
    public long explainedBy(ExplainedAnomaly.Cause cause) {
        return explained.stream().filter(one -> one.cause() == cause).count();
    }

    /** Returns the run's last line. */
    public String line(long seed) {
        return "CHAOS seed=%d %s | duplicate effects=%d lost=%d stuck=%d"
                .formatted(seed, counts, duplicateEffects, lost, stuck);
    }
}
