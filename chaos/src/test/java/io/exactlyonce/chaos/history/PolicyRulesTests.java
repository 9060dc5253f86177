package io.exactlyonce.chaos.history;

import static io.exactlyonce.chaos.history.Story.deleted;
import static io.exactlyonce.chaos.history.Story.done;
import static io.exactlyonce.chaos.history.Story.effect;
import static io.exactlyonce.chaos.history.Story.entered;
import static io.exactlyonce.chaos.history.Story.event;
import static io.exactlyonce.chaos.history.Story.failed;
import static io.exactlyonce.chaos.history.Story.killed;
import static io.exactlyonce.chaos.history.Story.observed;
import static io.exactlyonce.chaos.history.Story.received;
import static io.exactlyonce.chaos.history.Story.sending;
import static io.exactlyonce.chaos.history.Story.state;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code maxAttempts} and {@code whenKeyMissing}: accepted and rejected histories. */
class PolicyRulesTests {

    private static final Event PARKED =
            Event.of(Kind.PARKED).on("k").with(Detail.REASON, "maxAttempts (3) is reached: of no use");

    private static void assertHolds(Verdict verdict) {
        assertThat(verdict.violations()).isEmpty();
    }

    private static void assertBroken(Verdict verdict, Invariant... invariants) {
        assertThat(verdict.violations()).extracting(Violation::invariant).containsOnly(invariants);
        assertThat(verdict.holds()).isFalse();
    }

    /** A key with a limit of three attempts, of which the given number throws. Some time passes after each. */
    private static Story limited(int times) {
        Story story = new Story()
                .tell(sending("k", "EXTERNAL", "RERUN", Partner.HONOURS_KEY).with(Detail.MAX_ATTEMPTS, 3))
                .tell(Event.of(Kind.SENT).on("k"));
        for (int attempt = 1; attempt <= times; attempt++) {
            threw(story, attempt, false);
        }
        return story;
    }

    private static Story threw(Story story, int attempt, boolean inDoubt) {
        String call = "c" + attempt;
        return story.tell(entered("k", call, attempt, inDoubt))
                .tell(failed("k", call))
                .after(Duration.ofSeconds(1));
    }

    private static Story parked(Story story) {
        return story.tell(PARKED)
                .tell(state("k", "PARKED"))
                .tell(Event.of(Kind.DEAD_LETTERED).on("k").with(Detail.REASON, "its key is parked"));
    }

    @Test
    void keyThatIsParkedByTheLastAttemptThatMayThrowIsFine() {
        assertHolds(parked(limited(3)).end());
    }

    @Test
    void keyThatCompletesBeforeTheLimitIsFine() {
        assertHolds(limited(2)
                .tell(entered("k", "d", 3, false))
                .tell(effect("k", "d"))
                .tell(done("k", "d"))
                .end());
    }

    @Test
    void attemptAfterTheLastThatMayThrowIsABreach() {
        assertBroken(parked(limited(4)).end(), Invariant.ATTEMPTS_LIMITED);
    }

    @Test
    void keyThatIsNotParkedByTheLastAttemptIsABreach() {
        assertBroken(
                limited(3)
                        .tell(state("k", "RELEASED"))
                        .tell(Event.of(Kind.DEAD_LETTERED).on("k").with(Detail.REASON, "its handler fails"))
                        .end(),
                Invariant.ATTEMPTS_LIMITED);
    }

    @Test
    void keyThatIsParkedBeforeTheLimitIsABreach() {
        assertBroken(parked(limited(2)).end(), Invariant.ATTEMPTS_LIMITED);
    }

    /** The worker died either before or after the record; nothing shows which. */
    @Test
    void attemptWhoseWorkerWasKilledCountsOrNot() {
        assertHolds(parked(threw(limited(3).tell(killed("c3")), 4, true)).end());
        assertHolds(parked(limited(3).tell(killed("c3"))).end());
    }

    /** The doubt proves that nothing was recorded. */
    @Test
    void attemptThatLeftADoubtDoesNotCount() {
        assertHolds(parked(threw(limited(3), 4, true)).end());
    }

    @ParameterizedTest
    @ValueSource(strings = {"interrupted", "refused"})
    void attemptThatWasStoppedDoesNotCount(String how) {
        Story story = limited(2).tell(entered("k", "s", 3, false));
        if (how.equals("refused")) {
            story.tell(event(Kind.CHECKING, "k", "s")).tell(event(Kind.REFUSED, "k", "s"));
        }
        story.tell(event(Kind.FAILED, "k", "s")
                .with(
                        Detail.REASON,
                        how.equals("refused")
                                ? "io.exactlyonce.ClaimLostException"
                                : "java.lang.InterruptedException"));

        assertHolds(parked(threw(story, 4, true)).end());
    }

    private static Story missing(String policy) {
        return new Story()
                .tell(sending("k", "EXTERNAL", "RERUN", Partner.IGNORES_KEY).with(Detail.WHEN_KEY_MISSING, policy))
                .tell(Event.of(Kind.SENT).on("k"));
    }

    private static List<Event> acknowledged() {
        return List.of(
                Event.of(Kind.ACKNOWLEDGING).by("w").on("k"),
                Event.of(Kind.ACKNOWLEDGED).by("w").on("k"));
    }

    @Test
    void messageThatIsSkippedIsDeletedWithoutItsHandler() {
        assertHolds(missing("SKIP")
                .tell(received("k", "a", "1"))
                .tell(acknowledged())
                .end());
    }

    @ParameterizedTest
    @ValueSource(strings = {"SKIP", "RUN_UNPROTECTED"})
    void messageWithoutAKeyThatIsNotDeletedIsStuck(String policy) {
        Verdict verdict = missing(policy).tell(received("k", "a", "1")).end();

        assertBroken(verdict, Invariant.NOTHING_STUCK);
        assertThat(verdict.stuck()).isEqualTo(1);
    }

    @Test
    void messageThatIsHandledAndWasToBeSkippedIsABreach() {
        assertBroken(
                missing("SKIP").tell(observed("k", "a")).tell(deleted("k", "a")).end(), Invariant.MISSING_KEY_DECIDED);
    }

    @Test
    void messageThatIsHandledWithoutAClaimMayBeRepeated() {
        assertHolds(missing("RUN_UNPROTECTED")
                .tell(observed("k", "a"))
                .tell(effect("k", "a"))
                .tell(killed("a"))
                .tell(observed("k", "b"))
                .tell(effect("k", "b"))
                .tell(deleted("k", "b"))
                .end());
    }

    @Test
    void messageThatIsDeletedBeforeItsHandlerReturnedIsLost() {
        assertBroken(missing("RUN_UNPROTECTED").tell(acknowledged()).end(), Invariant.NOTHING_LOST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SKIP", "RUN_UNPROTECTED"})
    void claimOfAMessageWithoutAKeyIsABreach(String policy) {
        assertBroken(
                missing(policy)
                        .tell(entered("k", "a", 1, false))
                        .tell(deleted("k", "a"))
                        .end(),
                Invariant.MISSING_KEY_DECIDED);
    }

    /** No event shows when the message was skipped. */
    @Test
    void messageThatIsSkippedHoldsItsGroupUpForNothing() {
        Story story = new Story();
        for (int position = 1; position <= 2; position++) {
            Event sending = sending("k" + position, "EXTERNAL", "RERUN", Partner.IGNORES_KEY)
                    .with(Detail.GROUP, "g")
                    .with(Detail.POSITION, position);
            story.tell(position == 1 ? sending.with(Detail.WHEN_KEY_MISSING, "SKIP") : sending)
                    .tell(Event.of(Kind.SENT).on("k" + position));
        }
        assertHolds(story.tell(received("k1", "a", "1"))
                .tell(entered("k2", "b", 1, false))
                .tell(effect("k2", "b"))
                .tell(Event.of(Kind.ACKNOWLEDGING).by("w").on("k1"))
                .tell(done("k2", "b"))
                .end());
    }
}
