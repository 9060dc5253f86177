package io.exactlyonce.chaos.history;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Judges a finished run by its history alone.
 *
 * <p>The checker reports only breaches that the order of events proves. A worker may be paused between an action and
 * its record. A check therefore counts from its start until its recorded end, and so does a fault. A worker may also be
 * paused between its claim and its handler, so fencing tokens decide which of two claims is the later one.
 *
 * <p>With asynchronous replication, a failover may forget commits of the {@link Terms#exposure} before it. The
 * following are then listed as {@link ExplainedAnomaly.Cause#FORGOTTEN_BY_FAILOVER}: a second owner of a key; a repeat
 * at a partner that ignores the key (also under {@code PARK}); a token that occurs twice; a doubt that is not reported;
 * a completed key that runs again; and a completion, with its row, that is gone although its message was deleted. Two
 * rows of one key, and a repeat at a partner that honours the key, are breaches even then. With synchronous
 * replication, nothing is excused.
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

    /** Makes a checker with time limits. */
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
