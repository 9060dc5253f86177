package io.exactlyonce.chaos.history;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Judges a run by its history alone, after it.
 *
 * <p>It counts as a breach only what the order of events proves: a worker may be paused between doing a thing and recording
 * it, so that a check counts from before it began until after it ended, and a fault likewise. Fencing tokens tell which of two
 * claims is the later one, since a worker may also be paused between its claim and its handler.
 *
 * <p>With asynchronous replication, a failover may forget what was committed within {@link Terms#exposure} before it. What
 * it explains is listed as {@link ExplainedAnomaly.Cause#FORGOTTEN_BY_FAILOVER}: a second holder of a key, a repeat at a partner
 * that ignores the key (under {@code PARK}, too), a token that comes twice, a doubt that is not told, a completed key that runs
 * again, and a completion, with its row, that is gone although its message was deleted. Two rows of one key, or a repeat at a partner that honours the key, are
 * breaches even then. With synchronous replication nothing is forgiven.
 */
public final class Checker {

    private static final List<Rule> RULES = List.of(
            new SoundRule(),
            new DatabaseEffectRule(),
            new RepeatRule(),
            new HolderRule(),
            new TokenRule(),
            new DoubtRule(),
            new CompletionRule(),
            new ObservedRule(),
            new DecisionRule(),
            new AttemptsRule(),
            new MissingKeyRule(),
            new OutcomeRule());

    private final Terms terms;

    /** Makes a checker that judges by some times. */
    public Checker(Terms terms) {
        this.terms = terms;
    }

    /** Judges a run. */
    public Verdict judge(History history) {
        Findings findings = new Findings(history, terms);
        List<KeyHistory> keys = history.keys().toList();
        for (Rule rule : RULES) {
            keys.forEach(key -> rule.judge(key, findings));
        }
        GroupOrder.judge(keys, findings);
        FollowUpRule.judge(keys, findings);
        judgeDrain(history, keys, findings);
        return findings.verdict();
    }

    private void judgeDrain(History history, List<KeyHistory> keys, Findings findings) {
        Optional<Event> calm = history.first(Kind.FAULTS_OVER);
        Optional<Event> drained = history.first(Kind.DRAINED);
        if (calm.isEmpty() || drained.isEmpty()) {
            findings.violated(Invariant.DRAINS, "", "the run has no end", List.of());
            return;
        }
        judgeDrain(calm.get(), drained.get(), "", terms.longestDrain(), findings);
        keys.stream()
                .filter(key -> !key.isOfAnAction())
                .max(Comparator.comparingLong(
                        key -> key.lastAtAWorker().map(Event::micros).orElse(0L)))
                .ifPresent(latest -> latest.lastAtAWorker()
                        .filter(last -> last.order() > calm.get().order())
                        .ifPresent(last -> judgeDrain(calm.get(), last, latest.key(), terms.drain(), findings)));
    }

    private static void judgeDrain(Event calm, Event done, String key, Duration longest, Findings findings) {
        Duration took = Duration.ofNanos((done.micros() - calm.micros()) * 1_000);
        if (took.isNegative() || took.compareTo(longest) > 0) {
            findings.violated(
                    Invariant.DRAINS,
                    key,
                    "it took %s to drain, and must take at most %s".formatted(took, longest),
                    calm,
                    done);
        }
    }
}
