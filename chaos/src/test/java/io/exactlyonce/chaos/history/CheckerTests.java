package io.exactlyonce.chaos.history;

import static io.exactlyonce.chaos.history.Story.began;
import static io.exactlyonce.chaos.history.Story.checked;
import static io.exactlyonce.chaos.history.Story.decided;
import static io.exactlyonce.chaos.history.Story.deciding;
import static io.exactlyonce.chaos.history.Story.deleted;
import static io.exactlyonce.chaos.history.Story.done;
import static io.exactlyonce.chaos.history.Story.effect;
import static io.exactlyonce.chaos.history.Story.ended;
import static io.exactlyonce.chaos.history.Story.entered;
import static io.exactlyonce.chaos.history.Story.event;
import static io.exactlyonce.chaos.history.Story.external;
import static io.exactlyonce.chaos.history.Story.failed;
import static io.exactlyonce.chaos.history.Story.grouped;
import static io.exactlyonce.chaos.history.Story.killed;
import static io.exactlyonce.chaos.history.Story.observed;
import static io.exactlyonce.chaos.history.Story.received;
import static io.exactlyonce.chaos.history.Story.sending;
import static io.exactlyonce.chaos.history.Story.sent;
import static io.exactlyonce.chaos.history.Story.state;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each invariant has histories that keep it, and histories that break it. */
class CheckerTests {

    private static void assertBroken(Verdict verdict, Invariant... invariants) {
        assertThat(verdict.violations()).extracting(Violation::invariant).containsOnly(invariants);
        assertThat(verdict.holds()).isFalse();
    }

    private static void assertHolds(Verdict verdict) {
        assertThat(verdict.violations()).isEmpty();
        assertThat(verdict.holds()).isTrue();
        assertThat(verdict.duplicateEffects() + verdict.lost() + verdict.stuck())
                .isZero();
    }

    private static Story story() {
        return new Story();
    }

    /** One attempt, which entered its handler, passed its check and acted. */
    private static Story acted(Story story, String call, int token, boolean inDoubt) {
        return story.tell(entered("k", call, token, inDoubt))
                .tell(checked("k", call))
                .tell(effect("k", call));
    }

    private static Event asynchronousFailover(Kind kind) {
        return Event.of(kind).with(Detail.FAULT, Fault.FAILOVER).with(Detail.ASYNCHRONOUS, true);
    }

    @Test
    void quietRunHoldsAndIsCounted() {
        Verdict verdict = acted(story().tell(external("k")), "a", 1, false)
                .tell(done("k", "a"))
                .tell(began(Fault.SQS_RESTART, ""))
                .tell(ended(Fault.SQS_RESTART, ""))
                .tell(began(Fault.DATABASE_RESTART, ""))
                .tell(ended(Fault.DATABASE_RESTART, ""))
                .tell(began(Fault.SQS_PARTITION, ""))
                .tell(ended(Fault.SQS_PARTITION, ""))
                .tell(killed("b"))
                .tell(began(Fault.PAUSE, "b"))
                .tell(ended(Fault.PAUSE, "b"))
                .end();

        assertHolds(verdict);
        assertThat(verdict.line(42))
                .isEqualTo("CHAOS seed=42 messages=1 deliveries=1 kills=1 pauses=1 restarts=2 failovers=0 partitions=1"
                        + " | duplicate effects=0 lost=0 stuck=0");
    }

    // DATABASE effects

    private static Story database() {
        return story().tell(sent("k", "DATABASE", "RERUN", Partner.NONE))
                .tell(entered("k", "a", 1, false))
                .tell(killed("a"))
                .tell(entered("k", "b", 1, false))
                .tell(done("k", "b"));
    }

    @Test
    void rowOfADatabaseHandlerIsThereOnceThoughItsFirstAttemptDied() {
        assertHolds(database().tell(Event.of(Kind.ROW).on("k").in("b")).end());
    }

    @Test
    void secondRowIsADuplicateEvenAfterAnAsynchronousFailover() {
        Verdict verdict = story().tell(asynchronousFailover(Kind.FAULT_BEGAN))
                .tell(sent("k", "DATABASE", "RERUN", Partner.NONE))
                .tell(entered("k", "a", 1, false))
                .tell(done("k", "a"))
                .tell(Event.of(Kind.ROW).on("k").in("a"))
                .tell(Event.of(Kind.ROW).on("k").in("a"))
                .tell(asynchronousFailover(Kind.FAULT_ENDED))
                .end();

        assertBroken(verdict, Invariant.DATABASE_EFFECT_ONCE);
        assertThat(verdict.duplicateEffects()).isEqualTo(1);
    }

    @Test
    void completedDatabaseHandlerWithoutItsRowIsLost() {
        Verdict verdict = database().end();

        assertBroken(verdict, Invariant.NOTHING_LOST);
        assertThat(verdict.lost()).isEqualTo(1);
    }

    // Observe mode

    @Test
    void handlersInObserveModeMayRepeatEffectsAndRunForCompletedKeys() {
        assertHolds(acted(story().tell(external("k")), "a", 1, false)
                .tell(done("k", "a"))
                .tell(observed("k", "b"))
                .tell(effect("k", "b"))
                .tell(deleted("k", "b"))
                .end());
    }

    @Test
    void deleteInObserveModeProvesNoCompletion() {
        assertHolds(acted(
                        story().tell(external("k"))
                                .tell(observed("k", "a"))
                                .tell(effect("k", "a"))
                                .tell(deleted("k", "a")),
                        "b",
                        1,
                        false)
                .tell(done("k", "b"))
                .end());
    }

    @Test
    void keyThatAnEnforcingWorkerCompletedRunsNoMoreThereWhateverObservingOnesDo() {
        Verdict verdict = acted(
                        acted(story().tell(external("k")), "a", 1, false)
                                .tell(deleted("k", "a"))
                                .tell(observed("k", "b"))
                                .tell(deleted("k", "b")),
                        "c",
                        2,
                        true)
                .tell(done("k", "c"))
                .end();

        assertThat(verdict.violations())
                .extracting(Violation::invariant)
                .contains(Invariant.COMPLETED_RUNS_NO_MORE, Invariant.EFFECT_NOT_REPEATED);
    }

    @Test
    void doubtIsReportedAlsoIfAnObservingWorkerHadTheKeyMeanwhile() {
        Verdict verdict = story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(killed("a"))
                .tell(observed("k", "b"))
                .tell(failed("k", "b"))
                .tell(entered("k", "c", 3, false))
                .tell(effect("k", "c"))
                .tell(done("k", "c"))
                .end();

        assertBroken(verdict, Invariant.DOUBT_IS_TOLD);
    }

    @Test
    void keyThatIsHandledInObserveModeAloneIsCompleted() {
        Verdict verdict = story().tell(external("k"))
                .tell(observed("k", "a"))
                .tell(effect("k", "a"))
                .tell(deleted("k", "a"))
                .tell(state("k", "HELD"))
                .end();

        assertBroken(verdict, Invariant.OBSERVED_IS_RECORDED);
    }

    @Test
    void completionInObserveModeMayBeMissingAfterAKillOrWhileTheDatabaseIsAway() {
        assertHolds(story().tell(external("k"))
                .tell(observed("k", "a"))
                .tell(effect("k", "a"))
                .tell(deleted("k", "a"))
                .tell(killed("a"))
                .tell(state("k", "HELD"))
                .end());
        assertHolds(story().tell(external("k"))
                .tell(began(Fault.DATABASE_RESTART, ""))
                .tell(observed("k", "a"))
                .tell(effect("k", "a"))
                .tell(deleted("k", "a"))
                .tell(ended(Fault.DATABASE_RESTART, ""))
                .end());
    }

    @Test
    void killLongAfterTheHandlerReturnedExplainsNoMissingCompletion() {
        Verdict verdict = story().tell(external("k"))
                .tell(observed("k", "a"))
                .tell(effect("k", "a"))
                .tell(deleted("k", "a"))
                .after(Duration.ofSeconds(1))
                .tell(killed("a"))
                .end();

        assertBroken(verdict, Invariant.OBSERVED_IS_RECORDED);
    }

    @Test
    void completionInObserveModeMayBeMissingIfAnotherWorkerHadTheKey() {
        assertHolds(story().tell(external("k"))
                .tell(received("k", "b", "m"))
                .tell(observed("k", "a"))
                .tell(effect("k", "a"))
                .tell(deleted("k", "a"))
                .tell(state("k", "RELEASED"))
                .end());
    }

    @Test
    void messageThatIsDeletedInObserveModeBeforeAnyHandlerReturnedIsLost() {
        Verdict verdict = story().tell(external("k"))
                .tell(observed("k", "a"))
                .tell(Event.of(Kind.ACKNOWLEDGING).by(Story.workerOf("a")).on("k"))
                .tell(effect("k", "a"))
                .tell(done("k", "a"))
                .end();

        assertBroken(verdict, Invariant.NOTHING_LOST);
    }

    @Test
    void messageThatAnEnforcingWorkerDeletesIsCompletedAlsoIfAnObservingOneHandledItsKey() {
        Verdict verdict = story().tell(external("k"))
                .tell(observed("k", "a"))
                .tell(effect("k", "a"))
                .tell(deleted("k", "a"))
                .tell(Event.of(Kind.ACKNOWLEDGING).by("enforcing").on("k"))
                .tell(state("k", "RELEASED"))
                .end();

        assertThat(verdict.violations()).extracting(Violation::invariant).contains(Invariant.NOTHING_LOST);
    }

    // Repeated effects

    @Test
    void repeatAfterACrashIsExplainedIfTheNextAttemptIsInDoubt() {
        Verdict verdict = acted(
                        acted(story().tell(external("k")), "a", 1, false).tell(killed("a")), "b", 2, true)
                .tell(done("k", "b"))
                .end();

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.REPEATED_IN_DOUBT))
                .isEqualTo(1);
    }

    @Test
    void repeatByAZombieThatWasPausedBetweenCheckAndEffectIsExplained() {
        Story story = story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(checked("k", "a"))
                .tell(began(Fault.PAUSE, "a"));
        Verdict verdict = acted(story, "b", 2, true)
                .tell(done("k", "b"))
                .tell(ended(Fault.PAUSE, "a"))
                .tell(effect("k", "a"))
                .end();

        assertHolds(verdict);
        assertThat(verdict.explained()).hasSize(1);
    }

    @Test
    void repeatThatNoFaultExplainsIsADuplicate() {
        Verdict verdict = acted(acted(story().tell(external("k")), "a", 1, false), "b", 2, true)
                .tell(done("k", "b"))
                .end();

        assertBroken(verdict, Invariant.EFFECT_NOT_REPEATED);
        assertThat(verdict.duplicateEffects()).isEqualTo(1);
        assertThat(verdict.violations().get(0).events()).hasSize(4);
    }

    @Test
    void crashOfAnotherWorkerExplainsNothing() {
        assertBroken(
                acted(acted(story().tell(external("k")), "a", 1, false).tell(killed("c")), "b", 2, true)
                        .tell(done("k", "b"))
                        .end(),
                Invariant.EFFECT_NOT_REPEATED);
    }

    @Test
    void pauseThatWasOverBeforeTheLastCheckExplainsNothing() {
        Story story = story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(began(Fault.PAUSE, "a"))
                .tell(ended(Fault.PAUSE, "a"))
                .tell(checked("k", "a"))
                .tell(effect("k", "a"));

        assertBroken(acted(story, "b", 2, true).tell(done("k", "b")).end(), Invariant.EFFECT_NOT_REPEATED);
    }

    @Test
    void faultAfterTheRepeatExplainsNothing() {
        assertBroken(
                acted(acted(story().tell(external("k")), "a", 1, false), "b", 2, true)
                        .tell(killed("a"))
                        .tell(done("k", "b"))
                        .end(),
                Invariant.EFFECT_NOT_REPEATED);
    }

    @Test
    void faultThatCostsNoClaimExplainsNothing() {
        for (Fault fault : List.of(Fault.SQS_RESTART, Fault.SQS_PARTITION, Fault.CLOCK_STEP, Fault.REPLICA_LAG)) {
            Story story = acted(story().tell(external("k")), "a", 1, false)
                    .tell(began(fault, ""))
                    .tell(ended(fault, ""));

            assertBroken(acted(story, "b", 2, true).tell(done("k", "b")).end(), Invariant.EFFECT_NOT_REPEATED);
        }
    }

    @Test
    void claimMayBeLostSomeTimeAfterTheDatabaseIsBackButNotLater() {
        assertHolds(repeatAfterAPartition(Duration.ofMillis(1)));
        assertBroken(repeatAfterAPartition(Duration.ofMillis(10)), Invariant.EFFECT_NOT_REPEATED);
    }

    private static Verdict repeatAfterAPartition(Duration later) {
        Story story = story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(began(Fault.DATABASE_PARTITION, ""))
                .tell(ended(Fault.DATABASE_PARTITION, ""))
                .after(later)
                .tell(checked("k", "a"))
                .tell(effect("k", "a"));
        return acted(story, "b", 2, true).tell(done("k", "b")).end();
    }

    @Test
    void oneCallThatActsTwiceIsADuplicate() {
        assertBroken(
                acted(story().tell(external("k")), "a", 1, false)
                        .tell(effect("k", "a"))
                        .tell(done("k", "a"))
                        .end(),
                Invariant.EFFECT_NOT_REPEATED);
    }

    @Test
    void repeatThatTheNextAttemptDoesNotKnowOfIsADuplicate() {
        Verdict verdict = acted(
                        acted(story().tell(external("k")), "a", 1, false).tell(killed("a")), "b", 2, false)
                .tell(done("k", "b"))
                .end();

        assertBroken(verdict, Invariant.EFFECT_NOT_REPEATED, Invariant.DOUBT_IS_TOLD);
        assertThat(verdict.duplicateEffects()).isEqualTo(1);
    }

    @Test
    void repeatOfAHandlerThatFailedAfterItsEffectIsADuplicate() {
        assertBroken(
                acted(acted(story().tell(external("k")), "a", 1, false).tell(failed("k", "a")), "b", 2, false)
                        .tell(done("k", "b"))
                        .end(),
                Invariant.EFFECT_NOT_REPEATED);
    }

    @Test
    void partnerThatHonoursTheKeyRecognisesItAfterACrash() {
        Story story = acted(story().tell(sent("k", "EXTERNAL", "RERUN", Partner.HONOURS_KEY)), "a", 1, false)
                .tell(killed("a"))
                .tell(entered("k", "b", 2, true));

        assertHolds(story.tell(Event.of(Kind.RECOGNISED).on("k").in("b"))
                .tell(done("k", "b"))
                .end());
    }

    @Test
    void repeatAtAPartnerThatHonoursTheKeyIsADuplicateEvenAfterACrash() {
        Story story = acted(story().tell(sent("k", "EXTERNAL", "RERUN", Partner.HONOURS_KEY)), "a", 1, false)
                .tell(killed("a"));
        Verdict verdict = acted(story, "b", 2, true).tell(done("k", "b")).end();

        assertBroken(verdict, Invariant.EFFECT_NOT_REPEATED);
        assertThat(verdict.duplicateEffects()).isEqualTo(1);
    }

    @Test
    void repeatUnderParkIsADuplicateEvenAfterACrash() {
        Story story = acted(story().tell(sent("k", "EXTERNAL", "PARK", Partner.IGNORES_KEY)), "a", 1, false)
                .tell(killed("a"));

        assertBroken(acted(story, "b", 2, true).tell(done("k", "b")).end(), Invariant.EFFECT_NOT_REPEATED);
    }

    // Two owners

    /** Worker {@code a} is paused and {@code b} takes over. The test adds the remaining events. */
    private static Story takeover() {
        return story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(event(Kind.CHECKING, "k", "a"))
                .tell(began(Fault.PAUSE, "a"))
                .tell(entered("k", "b", 2, true))
                .tell(checked("k", "b"))
                .tell(effect("k", "b"))
                .tell(ended(Fault.PAUSE, "a"));
    }

    @Test
    void checkMayEndAfterATakeoverIfItBeganBefore() {
        assertHolds(takeover()
                .tell(event(Kind.CHECKED, "k", "a"))
                .tell(done("k", "b"))
                .end());
    }

    @Test
    void checkThatBeganAfterATakeoverMayBeRefused() {
        assertHolds(takeover()
                .tell(event(Kind.CHECKED, "k", "a"))
                .tell(event(Kind.CHECKING, "k", "a"))
                .tell(event(Kind.REFUSED, "k", "a"))
                .tell(done("k", "b"))
                .end());
    }

    @Test
    void checkThatBeganAfterATakeoverMustNotPass() {
        assertBroken(
                takeover()
                        .tell(event(Kind.CHECKED, "k", "a"))
                        .tell(checked("k", "a"))
                        .tell(done("k", "b"))
                        .end(),
                Invariant.ONE_HOLDER);
    }

    @Test
    void claimThatWasSeenIsAsGoodAsAHandlerThatWasEntered() {
        Story story = story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(Event.of(Kind.CLAIMED).on("k").with(Detail.TOKEN, 2))
                .tell(checked("k", "a"))
                .tell(effect("k", "a"))
                .tell(done("k", "a"));

        assertBroken(story.end(), Invariant.ONE_HOLDER);
    }

    @Test
    void successorChecksWhileItsPredecessorStillRuns() {
        assertHolds(takeover()
                .tell(checked("k", "b"))
                .tell(event(Kind.CHECKED, "k", "a"))
                .tell(done("k", "b"))
                .end());
    }

    // Tokens

    @Test
    void zombieMayEnterWithASmallerTokenThanItsSuccessor() {
        Story story = story().tell(external("k"))
                .tell(Event.of(Kind.RECEIVED).by(Story.workerOf("a")).on("k"))
                .tell(began(Fault.PAUSE, "a"));
        assertHolds(acted(story, "b", 2, true)
                .tell(done("k", "b"))
                .tell(ended(Fault.PAUSE, "a"))
                .tell(entered("k", "a", 1, false))
                .end());
    }

    @Test
    void twoCallsMustNotHaveOneToken() {
        Story story =
                story().tell(external("k")).tell(entered("k", "a", 1, false)).tell(killed("a"));

        assertBroken(acted(story, "b", 1, true).tell(done("k", "b")).end(), Invariant.TOKENS_GROW);
    }

    @Test
    void workerThatHeardOfTheKeyLaterMustNotHaveASmallerToken() {
        Story story = story().tell(external("k")).tell(entered("k", "a", 5, false));

        assertBroken(
                story.tell(killed("a"))
                        .tell(entered("k", "b", 4, true))
                        .tell(effect("k", "b"))
                        .tell(done("k", "b"))
                        .end(),
                Invariant.TOKENS_GROW);
    }

    // Doubt

    @Test
    void attemptAfterOneThatFailedHasNoDoubt() {
        Story story =
                story().tell(external("k")).tell(entered("k", "a", 1, false)).tell(failed("k", "a"));

        assertHolds(acted(story, "b", 2, false).tell(done("k", "b")).end());
    }

    @Test
    void doubtStaysThoughALaterAttemptFailed() {
        assertHolds(afterACrashAndAFailure(true));
        assertBroken(afterACrashAndAFailure(false), Invariant.DOUBT_IS_TOLD);
    }

    private static Verdict afterACrashAndAFailure(boolean inDoubt) {
        Story story = story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(killed("a"))
                .tell(entered("k", "b", 2, true))
                .tell(failed("k", "b"));
        return acted(story, "c", 3, inDoubt).tell(done("k", "c")).end();
    }

    @Test
    void attemptThatReturnedWithoutCompletingLeavesADoubt() {
        Story story = story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(event(Kind.HANDLED, "k", "a"))
                .tell(killed("a"));

        assertBroken(acted(story, "b", 2, false).tell(done("k", "b")).end(), Invariant.DOUBT_IS_TOLD);
    }

    // Completed keys

    @Test
    void completedKeyMustNotBeClaimedAgain() {
        assertBroken(
                acted(story().tell(external("k")), "a", 1, false)
                        .tell(done("k", "a"))
                        .tell(entered("k", "b", 2, true))
                        .end(),
                Invariant.COMPLETED_RUNS_NO_MORE);
    }

    @Test
    void messageMustNotBeDeletedBeforeAHandlerReturned() {
        Verdict verdict = acted(story().tell(external("k")), "a", 1, false)
                .tell(Event.of(Kind.ACKNOWLEDGING).by("w").on("k"))
                .tell(done("k", "a"))
                .end();

        assertBroken(verdict, Invariant.NOTHING_LOST);
        assertThat(verdict.lost()).isEqualTo(1);
    }

    @Test
    void reconcilerMayCompleteWhatItsHandlerDidNot() {
        assertHolds(story().tell(sent("k", "EXTERNAL", "RECONCILE", Partner.IGNORES_KEY))
                .tell(entered("k", "a", 1, false))
                .tell(killed("a"))
                .tell(Event.of(Kind.ACKNOWLEDGING).by("w").on("k"))
                .tell(state("k", "COMPLETED"))
                .end());
    }

    // Lost and stuck

    @Test
    void messageWithoutAnyEndIsStuck() {
        Verdict verdict = story().tell(external("k")).end();

        assertBroken(verdict, Invariant.NOTHING_STUCK);
        assertThat(verdict.stuck()).isEqualTo(1);
    }

    @Test
    void messageThatSqsMayNotHaveTakenNeedsNoEnd() {
        assertHolds(story().tell(external("k").get(0)).end());
    }

    @Test
    void releasedKeyIsStuckAndAHeldOneToo() {
        for (String status : List.of("RELEASED", "HELD")) {
            Verdict verdict = story().tell(external("k"))
                    .tell(entered("k", "a", 1, false))
                    .tell(killed("a"))
                    .tell(state("k", status))
                    .end();

            assertBroken(verdict, Invariant.NOTHING_STUCK);
            assertThat(verdict.stuck()).isEqualTo(1);
        }
    }

    @Test
    void deletedMessageWhoseKeyHasNoRowIsLost() {
        List<Event> withoutState = done("k", "a").subList(0, 3);
        Verdict verdict = acted(story().tell(external("k")), "a", 1, false)
                .tell(withoutState)
                .end();

        assertBroken(verdict, Invariant.NOTHING_LOST);
        assertThat(verdict.lost()).isEqualTo(1);
    }

    @Test
    void completedKeyWithoutItsEffectIsLost() {
        Verdict verdict = story().tell(external("k"))
                .tell(entered("k", "a", 1, false))
                .tell(done("k", "a"))
                .end();

        assertBroken(verdict, Invariant.NOTHING_LOST);
    }

    @Test
    void parkedKeysAndDeadLettersWithTheirReasonsAreDone() {
        Event dead = Event.of(Kind.DEAD_LETTERED).on("k").with(Detail.REASON, "poison");
        Verdict verdict = story().tell(external("k"))
                .tell(dead)
                .tell(dead)
                .tell(external("l"))
                .tell(Event.of(Kind.PARKED).on("l").with(Detail.REASON, "abandoned"))
                .tell(external("m"))
                .tell(state("m", "PARKED"))
                .end();

        assertHolds(verdict);
        assertThat(verdict.deadLetters()).containsExactly(Map.entry("poison", 1L));
    }

    @Test
    void deadLetterWithoutItsReasonCannotBeRecorded() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> story().tell(Event.of(Kind.DEAD_LETTERED).on("k")));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> story().tell(Event.of(Kind.PARKED).on("k").with(Detail.REASON, " ")));
    }

    @Test
    void runMustDrainInTime() {
        assertBroken(story().judge(), Invariant.DRAINS);
        assertBroken(
                story().tell(Event.of(Kind.FAULTS_OVER))
                        .after(Duration.ofSeconds(91))
                        .tell(Event.of(Kind.DRAINED))
                        .judge(),
                Invariant.DRAINS);
        assertHolds(story().tell(Event.of(Kind.FAULTS_OVER))
                .after(Duration.ofSeconds(89))
                .tell(Event.of(Kind.DRAINED))
                .judge());
    }

    @Test
    void onlyWhatAnActionHoldsMayDrainLater() {
        assertHolds(drainedAfter(Duration.ofSeconds(59), false));
        assertHolds(drainedAfter(Duration.ofSeconds(61), true));
        assertBroken(drainedAfter(Duration.ofSeconds(61), false), Invariant.DRAINS);
        assertBroken(drainedAfter(Duration.ofSeconds(91), true), Invariant.DRAINS);
    }

    private static Verdict drainedAfter(Duration time, boolean isOfAnAction) {
        Event sending = sending("k", "EXTERNAL", "RERUN", Partner.IGNORES_KEY).with(Detail.ACTION, isOfAnAction);
        return story().tell(sending)
                .tell(Event.of(Kind.SENT).on("k"))
                .tell(Event.of(Kind.FAULTS_OVER))
                .after(time)
                .tell(entered("k", "call", 1, false))
                .tell(effect("k", "call"))
                .tell(done("k", "call"))
                .tell(Event.of(Kind.DRAINED))
                .judge();
    }

    // Groups

    private static Story group() {
        return story().tell(grouped("k", "g", 9)).tell(grouped("l", "g", 10)).tell(grouped("m", "g", 11));
    }

    private static Story handled(Story story, String key) {
        String call = "call-" + key;
        return story.tell(entered(key, call, 1, false)).tell(effect(key, call)).tell(done(key, call));
    }

    @Test
    void groupIsHandledInItsOrder() {
        assertHolds(handled(handled(handled(group(), "k"), "l"), "m").end());
    }

    @Test
    void messageMustNotBeHandledBeforeTheOneInFrontOfIt() {
        assertBroken(handled(handled(handled(group(), "l"), "k"), "m").end(), Invariant.GROUP_ORDER);
    }

    @Test
    void messageMustNotBeHandledWhileTheOneInFrontOfItFails() {
        Story story = handled(group().tell(entered("k", "a", 1, false)).tell(failed("k", "a")), "l");
        acted(story, "b", 2, false).tell(done("k", "b"));

        assertBroken(handled(story, "m").end(), Invariant.GROUP_ORDER);
    }

    @Test
    void groupContinuesBehindADeadLetter() {
        Story story = group().tell(entered("k", "a", 1, false)).tell(failed("k", "a"));

        assertHolds(handled(handled(story, "l"), "m")
                .tell(Event.of(Kind.DEAD_LETTERED).on("k").with(Detail.REASON, "poison"))
                .end());
    }

    /** The handler of {@code k} fails at each delivery. Message {@code l} is behind it in the group. */
    private static Story poison() {
        Story story = group();
        for (String call : List.of("a", "b")) {
            story.tell(received("k", call, "1"))
                    .tell(entered("k", call, call.equals("a") ? 1 : 2, false).get(1))
                    .tell(failed("k", call));
        }
        return story;
    }

    private static Event dead(String key) {
        return Event.of(Kind.DEAD_LETTERED).on(key).with(Detail.REASON, "poison");
    }

    @Test
    void groupContinuesAfterTheLastReceiveOfAPoisonedMessage() {
        assertHolds(handled(handled(poison(), "l"), "m").tell(dead("k")).end());
    }

    @Test
    void groupMustNotContinueBetweenTwoReceivesOfAPoisonedMessage() {
        assertBroken(
                handled(handled(poison(), "l").tell(received("k", "c", "1")), "m")
                        .tell(dead("k"))
                        .end(),
                Invariant.GROUP_ORDER);
    }

    @Test
    void groupMustNotContinueBetweenTwoReceivesOfAMessageWhoseKeyIsParkedOrThatCannotBeRead() {
        Story parked = handled(group().tell(received("k", "a", "1")), "l")
                .tell(received("k", "b", "1"))
                .tell(Event.of(Kind.PARKED).on("k").with(Detail.REASON, "hopeless"));

        assertBroken(handled(parked, "m").tell(dead("k")).end(), Invariant.GROUP_ORDER);
    }

    @Test
    void messageAfterTheNextOneMustNotOvertakeAPoisonedOneEither() {
        Story story = handled(poison(), "m").tell(received("k", "c", "1"));

        assertBroken(handled(story, "l").tell(dead("k")).end(), Invariant.GROUP_ORDER);
    }

    @Test
    void poisonedMessageThatWasSentAgainMayComeBehindOthers() {
        Story story = handled(poison(), "l").tell(grouped("k", "g", 12)).tell(received("k", "c", "2"));

        assertHolds(handled(story, "m").tell(dead("k")).end());
    }

    @Test
    void messageOfAGroupThatWasSentAgainIsDeletedBehindOthers() {
        Story story = handled(handled(group(), "k"), "l")
                .tell(grouped("k", "g", 12))
                .tell(received("k", "again", "2"))
                .tell(Event.of(Kind.ACKNOWLEDGING).by(Story.workerOf("again")).on("k"));

        assertHolds(handled(story, "m").end());
    }

    @Test
    void messageOfAGroupThatWasSentAgainMustNotBeHandledAgain() {
        Story story =
                handled(handled(group(), "k"), "l").tell(grouped("k", "g", 12)).tell(entered("k", "again", 2, false));

        assertBroken(
                handled(story, "m").end(),
                Invariant.GROUP_ORDER,
                Invariant.COMPLETED_RUNS_NO_MORE,
                Invariant.DOUBT_IS_TOLD);
    }

    @Test
    void databaseHandlerThatCommittedAfterTheGroupWentOnIsOutOfOrder() {
        Story story = story().tell(List.of(
                        Story.sending("k", "DATABASE", "RERUN", Partner.NONE)
                                .with(Detail.GROUP, "g")
                                .with(Detail.POSITION, 1),
                        Event.of(Kind.SENT).on("k")))
                .tell(grouped("l", "g", 2))
                .tell(entered("k", "a", 1, false))
                .tell(event(Kind.HANDLED, "k", "a"))
                .tell(killed("a"));
        Verdict verdict = handled(story, "l")
                .tell(entered("k", "b", 1, false))
                .tell(done("k", "b"))
                .tell(Event.of(Kind.ROW).on("k").in("b"))
                .end();

        assertBroken(verdict, Invariant.GROUP_ORDER);
    }

    @Test
    void groupMustNotGoBack() {
        Story story = handled(handled(group(), "k"), "l").tell(entered("k", "late", 2, true));

        assertBroken(handled(story, "m").end(), Invariant.GROUP_ORDER, Invariant.COMPLETED_RUNS_NO_MORE);
    }

    // Operators' decisions

    /** Worker {@code a} acts and dies, or dies before it acts. Its claim {@code a} is parked. */
    private static Story abandoned(boolean acted) {
        Story story = story().tell(sent("k", "EXTERNAL", "PARK", Partner.IGNORES_KEY))
                .tell(entered("k", "a", 1, false))
                .tell(checked("k", "a"));
        return (acted ? story.tell(effect("k", "a")) : story).tell(killed("a"));
    }

    /** The message is redelivered and deleted. */
    private static Story acknowledged(Story story) {
        return story.tell(Event.of(Kind.RECEIVED).by("w").on("k"))
                .tell(Event.of(Kind.ACKNOWLEDGING).by("w").on("k"))
                .tell(Event.of(Kind.ACKNOWLEDGED).by("w").on("k"));
    }

    @Test
    void operatorMayCompleteWhatHasHappened() {
        Story story = abandoned(true).tell(deciding("k", "a", "op")).tell(decided(Kind.COMPLETED, "k", "a", "op"));

        assertHolds(acknowledged(story).tell(state("k", "COMPLETED")).end());
    }

    @Test
    void decisionWhoseAnswerIsLostMayHaveCompletedTheKey() {
        Story story = abandoned(true).tell(deciding("k", "a", "op")).tell(killed("op"));

        assertHolds(acknowledged(story).tell(state("k", "COMPLETED")).end());
    }

    @Test
    void operatorMustNotCompleteWhatHasNotHappened() {
        Story story = abandoned(false).tell(deciding("k", "a", "op")).tell(decided(Kind.COMPLETED, "k", "a", "op"));

        assertBroken(acknowledged(story).tell(state("k", "COMPLETED")).end(), Invariant.NOTHING_LOST);
    }

    @Test
    void completedKeyMustNotRunAfterItsDecision() {
        Story story = abandoned(true)
                .tell(deciding("k", "a", "op"))
                .tell(decided(Kind.COMPLETED, "k", "a", "op"))
                .tell(entered("k", "b", 2, true));

        assertBroken(story.tell(state("k", "COMPLETED")).end(), Invariant.COMPLETED_RUNS_NO_MORE);
    }

    @Test
    void operatorMayReleaseWhatHasNotHappened() {
        assertHolds(acted(released(false), "b", 2, true).tell(done("k", "b")).end());
    }

    private static Story released(boolean acted) {
        return abandoned(acted).tell(deciding("k", "a", "op")).tell(decided(Kind.RELEASED, "k", "a", "op"));
    }

    @Test
    void attemptAfterAReleaseMustKnowOfTheDoubt() {
        assertBroken(acted(released(false), "b", 2, false).tell(done("k", "b")).end(), Invariant.DOUBT_IS_TOLD);
    }

    @Test
    void effectThatTheOperatorCouldSeeMustNotBeRepeated() {
        Verdict verdict =
                acted(released(true), "b", 2, true).tell(done("k", "b")).end();

        assertBroken(verdict, Invariant.EFFECT_NOT_REPEATED);
        assertThat(verdict.duplicateEffects()).isEqualTo(1);
    }

    @Test
    void releasedKeyMustNotBeDeletedUnhandled() {
        assertBroken(acknowledged(released(false)).tell(state("k", "RELEASED")).end(), Invariant.NOTHING_LOST);
    }

    /** Worker {@code a} is paused between its check and its effect, and another worker takes its key over. */
    private static Story pausedAndReleased(Event begin, Event end) {
        Story story = story().tell(sent("k", "EXTERNAL", "PARK", Partner.IGNORES_KEY))
                .tell(entered("k", "a", 1, false))
                .tell(checked("k", "a"))
                .tell(begin)
                .tell(deciding("k", "a", "op"))
                .tell(decided(Kind.RELEASED, "k", "a", "op"));
        return acted(story, "b", 2, true).tell(end).tell(effect("k", "a")).tell(done("k", "b"));
    }

    @Test
    void zombieThatActsAfterTheOperatorsLookupIsExplained() {
        Verdict verdict = pausedAndReleased(began(Fault.PAUSE, "a"), ended(Fault.PAUSE, "a"))
                .end();

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.REPEATED_IN_DOUBT))
                .isEqualTo(1);
    }

    @Test
    void handlerThatWasTakenForDeadWithoutCauseIsNot() {
        assertBroken(
                pausedAndReleased(began(Fault.CLOCK_STEP, "a"), ended(Fault.CLOCK_STEP, "a"))
                        .end(),
                Invariant.EFFECT_NOT_REPEATED);
    }

    @Test
    void releaseCountsForOneAttemptOnly() {
        Story story = acted(released(false), "b", 2, true).tell(killed("b"));

        assertBroken(acted(story, "c", 3, true).tell(done("k", "c")).end(), Invariant.EFFECT_NOT_REPEATED);
    }

    @Test
    void ofTwoDecisionsOneCountsAndTheOtherIsRefused() {
        Story story = abandoned(true)
                .tell(deciding("k", "a", "op"))
                .tell(deciding("k", "a", "other"))
                .tell(decided(Kind.COMPLETED, "k", "a", "other"))
                .tell(decided(Kind.OUTDECIDED, "k", "a", "op"));

        assertHolds(acknowledged(story).tell(state("k", "COMPLETED")).end());
    }

    @Test
    void twoDecisionsOnOneClaimMustNotBothCount() {
        Story story = abandoned(true)
                .tell(deciding("k", "a", "op"))
                .tell(deciding("k", "a", "other"))
                .tell(decided(Kind.COMPLETED, "k", "a", "other"))
                .tell(decided(Kind.COMPLETED, "k", "a", "op"));

        assertBroken(acknowledged(story).tell(state("k", "COMPLETED")).end(), Invariant.DECISION_STANDS);
    }

    @Test
    void decisionMustNotBeRefusedWhereThereIsNoOther() {
        Story story = abandoned(true)
                .tell(deciding("k", "a", "op"))
                .tell(decided(Kind.OUTDECIDED, "k", "a", "op"))
                .tell(deciding("k", "b", "other"))
                .tell(decided(Kind.COMPLETED, "k", "b", "other"));

        assertBroken(acknowledged(story).tell(state("k", "COMPLETED")).end(), Invariant.DECISION_STANDS);
    }

    @Test
    void decisionMayBeRefusedAfterOneWhoseAnswerIsLost() {
        Story story = abandoned(true)
                .tell(deciding("k", "a", "op"))
                .tell(killed("op"))
                .tell(deciding("k", "a", "other"))
                .tell(decided(Kind.OUTDECIDED, "k", "a", "other"));

        assertHolds(acknowledged(story).tell(state("k", "COMPLETED")).end());
    }

    /** DynamoDB's client repeats a release whose reply is lost, and finds that the key was claimed again. */
    private static Story releaseToldAsLost(boolean isPaused, boolean isClaimedAgain) {
        String operator = Story.workerOf("op");
        Story story = abandoned(false).tell(deciding("k", "a", operator));
        if (isPaused) {
            story.tell(began(Fault.PAUSE, "op"));
        }
        story.tell(deciding("k", "a", "other")).tell(decided(Kind.OUTDECIDED, "k", "a", "other"));
        if (isClaimedAgain) {
            acted(story, "b", 2, true).tell(done("k", "b"));
        }
        if (isPaused) {
            story.tell(ended(Fault.PAUSE, "op"));
        }
        story.tell(decided(Kind.OUTDECIDED, "k", "a", operator));
        if (!isClaimedAgain) {
            acted(story, "b", 2, true).tell(done("k", "b"));
        }
        return story.tell(Event.of(Kind.FAULTS_OVER)).tell(Event.of(Kind.DRAINED));
    }

    @Test
    void releaseMayBeReportedAsLostWhereTheClientRepeatsIt() {
        Story story = releaseToldAsLost(true, true);

        assertHolds(story.judgeOfDynamoDb());
        assertThat(story.judgeOfDynamoDb().explainedBy(ExplainedAnomaly.Cause.RELEASE_TOLD_AS_LOST))
                .isEqualTo(2);
        assertBroken(story.judge(), Invariant.DECISION_STANDS);
    }

    @ParameterizedTest(name = "paused {0}, claimed again {1}")
    @CsvSource({"true, false", "false, true"})
    void releaseMustNotBeReportedAsLostWithoutAFaultOrAnotherAttempt(boolean isPaused, boolean isClaimedAgain) {
        assertBroken(releaseToldAsLost(isPaused, isClaimedAgain).judgeOfDynamoDb(), Invariant.DECISION_STANDS);
    }

    @Test
    void decisionMustNotBeLost() {
        Story completed = abandoned(true).tell(deciding("k", "a", "op")).tell(decided(Kind.COMPLETED, "k", "a", "op"));

        assertBroken(completed.tell(state("k", "PARKED")).end(), Invariant.DECISION_STANDS);
        assertBroken(released(false).tell(state("k", "PARKED")).end(), Invariant.DECISION_STANDS);
    }

    @Test
    void releasedKeyMayBeParkedAgainAfterAnotherAttempt() {
        assertHolds(released(false)
                .tell(entered("k", "b", 2, true))
                .tell(killed("b"))
                .tell(state("k", "PARKED"))
                .end());
    }

    @Test
    void decisionThatAnAsynchronousFailoverForgotIsExplained() {
        Verdict verdict = abandoned(true)
                .tell(deciding("k", "a", "op"))
                .tell(decided(Kind.COMPLETED, "k", "a", "op"))
                .tell(asynchronousFailover(Kind.FAULT_BEGAN))
                .tell(asynchronousFailover(Kind.FAULT_ENDED))
                .tell(deciding("k", "a", "other"))
                .tell(decided(Kind.COMPLETED, "k", "a", "other"))
                .tell(state("k", "COMPLETED"))
                .end();

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.FORGOTTEN_BY_FAILOVER))
                .isPositive();
    }

    // Asynchronous replication

    /** Worker {@code a} completes its key, and a failover loses the completion. The same token is issued again. */
    private static Verdict failover(boolean asynchronous, Duration since) {
        Event failover =
                Event.of(Kind.FAULT_BEGAN).with(Detail.FAULT, Fault.FAILOVER).with(Detail.ASYNCHRONOUS, asynchronous);
        Story story = acted(story().tell(external("k")), "a", 1, false)
                .tell(done("k", "a").subList(0, 3))
                .after(since)
                .tell(failover)
                .tell(ended(Fault.FAILOVER, ""));
        return acted(story, "b", 1, false).tell(done("k", "b")).end();
    }

    @Test
    void asynchronousFailoverExplainsWhatItForgot() {
        Verdict verdict = failover(true, Duration.ZERO);

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.FORGOTTEN_BY_FAILOVER))
                .isPositive();
    }

    /** A failover forgets a worker's claim before the worker calls its handler. Another worker then finds no claim. */
    private static Verdict slowlyEntered(boolean receivedBefore) {
        List<Event> entered = entered("k", "a", 1, false);
        List<Event> failover = List.of(asynchronousFailover(Kind.FAULT_BEGAN), asynchronousFailover(Kind.FAULT_ENDED));
        Story story = story().tell(external("k"));
        if (receivedBefore) {
            story.tell(entered.get(0)).tell(failover);
        } else {
            story.tell(failover).tell(entered.get(0));
        }
        story.tell(entered.get(1)).tell(checked("k", "a")).tell(effect("k", "a"));
        return acted(story, "b", 2, false).tell(done("k", "b")).end();
    }

    @Test
    void claimMayBeForgottenBeforeItsHandlerIsCalled() {
        Verdict verdict = slowlyEntered(true);

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.FORGOTTEN_BY_FAILOVER))
                .isPositive();
    }

    @Test
    void claimOfWhatWasReceivedAfterAFailoverIsNotForgotten() {
        assertBroken(slowlyEntered(false), Invariant.EFFECT_NOT_REPEATED, Invariant.DOUBT_IS_TOLD);
    }

    @Test
    void synchronousFailoverExplainsNothingOfIt() {
        assertBroken(failover(false, Duration.ZERO), Invariant.EFFECT_NOT_REPEATED, Invariant.TOKENS_GROW);
    }

    @Test
    void completedDatabaseHandlerWithoutItsRowIsLostEvenAfterAnAsynchronousFailover() {
        Verdict verdict = story().tell(sent("k", "DATABASE", "RERUN", Partner.NONE))
                .tell(entered("k", "a", 1, false))
                .tell(done("k", "a"))
                .tell(asynchronousFailover(Kind.FAULT_BEGAN))
                .tell(asynchronousFailover(Kind.FAULT_ENDED))
                .end();

        assertBroken(verdict, Invariant.NOTHING_LOST);
    }

    @Test
    void asynchronousFailoverDoesNotExplainWhatWasCommittedLongBefore() {
        assertBroken(failover(true, Duration.ofMillis(30)), Invariant.EFFECT_NOT_REPEATED, Invariant.TOKENS_GROW);
    }

    @Test
    void completionThatAnAsynchronousFailoverForgotIsListedApart() {
        Verdict verdict = story().tell(sent("k", "DATABASE", "RERUN", Partner.NONE))
                .tell(entered("k", "a", 1, false))
                .tell(done("k", "a").subList(0, 3))
                .tell(asynchronousFailover(Kind.FAULT_BEGAN))
                .tell(asynchronousFailover(Kind.FAULT_ENDED))
                .end();

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.FORGOTTEN_BY_FAILOVER))
                .isEqualTo(1);
    }

    @Test
    void completionMayBeForgottenLongBeforeItsMessageIsDeleted() {
        Story story = acted(story().tell(external("k")), "a", 1, false)
                .tell(done("k", "a").subList(0, 1))
                .tell(asynchronousFailover(Kind.FAULT_BEGAN))
                .tell(asynchronousFailover(Kind.FAULT_ENDED))
                .tell(done("k", "a").subList(1, 3));

        Verdict verdict = acted(story, "b", 2, true).tell(done("k", "b")).end();

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.FORGOTTEN_BY_FAILOVER))
                .isPositive();
    }

    @Test
    void claimIsHeldInTheEndIfAFailoverForgotItsCompletion() {
        Verdict verdict = acted(story().tell(external("k")), "a", 1, false)
                .tell(done("k", "a").subList(0, 3))
                .tell(asynchronousFailover(Kind.FAULT_BEGAN))
                .tell(asynchronousFailover(Kind.FAULT_ENDED))
                .tell(Event.of(Kind.STATE).on("k").with(Detail.STATUS, "HELD"))
                .end();

        assertHolds(verdict);
        assertThat(verdict.explainedBy(ExplainedAnomaly.Cause.FORGOTTEN_BY_FAILOVER))
                .isPositive();
    }

    // Soundness

    @Test
    void historyThatCannotBeJudgedIsNotAccepted() {
        assertBroken(story().tell(Event.of(Kind.RECEIVED).by("w").on("unknown")).end(), Invariant.SOUND_HISTORY);
        assertBroken(
                acted(story().tell(external("k")), "a", 1, false)
                        .tell(effect("k", "never entered"))
                        .tell(done("k", "a"))
                        .end(),
                Invariant.SOUND_HISTORY);
        assertBroken(
                acted(story().tell(external("k")), "a", 1, false)
                        .tell(event(Kind.CHECKED, "k", "a"))
                        .tell(done("k", "a"))
                        .end(),
                Invariant.SOUND_HISTORY);
        assertBroken(
                acted(story().tell(external("k")).tell(entered("k", "a", 1, false)), "a", 1, false)
                        .tell(done("k", "a"))
                        .end(),
                Invariant.SOUND_HISTORY);
    }

    @Test
    void eventsOutOfOrderAreNoHistory() {
        Event first = Event.of(Kind.DRAINED).recorded(1, 1);

        assertThatIllegalArgumentException().isThrownBy(() -> new History(List.of(first, first)));
    }
}
