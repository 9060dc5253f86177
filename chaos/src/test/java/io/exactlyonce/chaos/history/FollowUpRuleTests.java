package io.exactlyonce.chaos.history;

import static io.exactlyonce.chaos.history.Story.deleted;
import static io.exactlyonce.chaos.history.Story.done;
import static io.exactlyonce.chaos.history.Story.effect;
import static io.exactlyonce.chaos.history.Story.entered;
import static io.exactlyonce.chaos.history.Story.event;
import static io.exactlyonce.chaos.history.Story.failed;
import static io.exactlyonce.chaos.history.Story.killed;
import static io.exactlyonce.chaos.history.Story.sending;
import static io.exactlyonce.chaos.history.Story.state;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Chains of two listeners: histories that the rule accepts, and histories that it rejects. */
class FollowUpRuleTests {

    private static final List<Event> SHIPPED = List.of(sendingOf("s"), sentOf("s"));

    private static Event sendingOf(String followUp) {
        return sending(followUp, "EXTERNAL", "RERUN", Partner.HONOURS_KEY).with(Detail.FOLLOWS, "k");
    }

    private static Event sentOf(String followUp) {
        return Event.of(Kind.SENT).on(followUp);
    }

    private static Story chain(String effects) {
        Partner partner = effects.equals("DATABASE") ? Partner.NONE : Partner.HONOURS_KEY;
        return new Story()
                .tell(sending("k", effects, "RERUN", partner).with(Detail.FOLLOWED, true))
                .tell(sentOf("k"));
    }

    private static List<Event> shippedBy(String followUp, String call) {
        return java.util.stream.Stream.of(
                        entered(followUp, call, 1, false), List.of(effect(followUp, call)), done(followUp, call))
                .flatMap(List::stream)
                .toList();
    }

    private static Event row(String call) {
        return Event.of(Kind.ROW).on("k").in(call);
    }

    private static void assertHolds(Verdict verdict) {
        assertThat(verdict.violations()).isEmpty();
    }

    private static void assertBroken(Verdict verdict) {
        assertThat(verdict.violations()).extracting(Violation::invariant).containsOnly(Invariant.FOLLOW_UP_ONCE);
        assertThat(verdict.holds()).isFalse();
    }

    @Test
    void messageThatIsSentAgainAfterACrashAndShippedOnceIsFine() {
        assertHolds(chain("EXTERNAL")
                .tell(entered("k", "a", 1, false))
                .tell(effect("k", "a"))
                .tell(SHIPPED)
                .tell(killed("a"))
                .tell(entered("k", "b", 2, true))
                .tell(event(Kind.RECOGNISED, "k", "b"))
                .tell(SHIPPED)
                .tell(done("k", "b"))
                .tell(shippedBy("s", "c"))
                .end());
    }

    @Test
    void messageOfATransactionThatARelayRepeatsIsFine() {
        assertHolds(chain("DATABASE")
                .tell(entered("k", "a", 1, false))
                .tell(done("k", "a"))
                .tell(SHIPPED)
                .tell(SHIPPED)
                .tell(shippedBy("s", "c"))
                .tell(row("a"))
                .end());
    }

    @Test
    void attemptsWithKeysOfTheirOwnAreDuplicates() {
        Verdict verdict = chain("EXTERNAL")
                .tell(entered("k", "a", 1, false))
                .tell(effect("k", "a"))
                .tell(SHIPPED)
                .tell(killed("a"))
                .tell(entered("k", "b", 2, true))
                .tell(event(Kind.RECOGNISED, "k", "b"))
                .tell(sendingOf("another"))
                .tell(sentOf("another"))
                .tell(done("k", "b"))
                .tell(shippedBy("s", "c"))
                .tell(shippedBy("another", "d"))
                .end();

        assertBroken(verdict);
        assertThat(verdict.duplicateEffects()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"EXTERNAL", "DATABASE"})
    void messageThatIsNeverSentIsLost(String effects) {
        Story story = chain(effects).tell(entered("k", "a", 1, false));
        if (effects.equals("DATABASE")) {
            story.tell(row("a"));
        } else {
            story.tell(effect("k", "a"));
        }

        Verdict verdict = story.tell(done("k", "a")).end();

        assertBroken(verdict);
        assertThat(verdict.lost()).isEqualTo(1);
    }

    @Test
    void messageOfATransactionThatIsNotThereIsABreach() {
        assertBroken(rolledBack(chain("DATABASE")).end());
    }

    @Test
    void messageOfATransactionThatAFailoverForgotIsExplained() {
        Verdict verdict = rolledBack(chain("DATABASE"))
                .tell(failover(Kind.FAULT_BEGAN))
                .tell(failover(Kind.FAULT_ENDED))
                .end();

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.FORGOTTEN_BY_FAILOVER))
                .isPositive();
    }

    /** The handler fails for good, and its message is in the dead-letter queue. */
    private static Story rolledBack(Story story) {
        return story.tell(entered("k", "a", 1, false))
                .tell(SHIPPED)
                .tell(failed("k", "a"))
                .tell(shippedBy("s", "c"))
                .tell(Event.of(Kind.DEAD_LETTERED).on("k").with(Detail.REASON, "the test wants it"));
    }

    private static Event failover(Kind kind) {
        return Event.of(kind).with(Detail.FAULT, Fault.FAILOVER).with(Detail.ASYNCHRONOUS, true);
    }

    @Test
    void messageThatHasItsEffectTwiceIsADuplicate() {
        Verdict verdict = chain("EXTERNAL")
                .tell(entered("k", "a", 1, false))
                .tell(effect("k", "a"))
                .tell(SHIPPED)
                .tell(done("k", "a"))
                .tell(entered("s", "c", 1, false))
                .tell(effect("s", "c"))
                .tell(killed("c"))
                .tell(entered("s", "d", 2, true))
                .tell(effect("s", "d"))
                .tell(deleted("s", "d"))
                .tell(state("s", "COMPLETED"))
                .end();

        assertThat(verdict.violations()).extracting(Violation::invariant).containsOnly(Invariant.EFFECT_NOT_REPEATED);
    }
}
