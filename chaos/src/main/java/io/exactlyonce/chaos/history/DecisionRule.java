package io.exactlyonce.chaos.history;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * Checks operators' decisions on parked claims. Of several decisions on one claim, one counts, the others are reported
 * as not counted, and the decided outcome stays.
 */
final class DecisionRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        key.all(Kind.DECIDING)
                .forEach(deciding -> key.outcomeOf(deciding).ifPresent(outcome -> {
                    if (outcome.kind() == Kind.OUTDECIDED) {
                        judgeRefusal(key, deciding, outcome, findings);
                    } else {
                        judgeOthers(key, deciding, outcome, findings);
                        judgeEnd(key, deciding, outcome, findings);
                    }
                }));
    }

    private static void judgeOthers(KeyHistory key, Event deciding, Event outcome, Findings findings) {
        others(key, deciding)
                .flatMap(other -> key.outcomeOf(other).stream())
                .filter(other -> other.kind() != Kind.OUTDECIDED && other.order() > outcome.order())
                .filter(other -> !findings.forgotten(key.key(), deciding, outcome, other))
                .forEach(other -> findings.violated(
                        Invariant.DECISION_STANDS, key.key(), "decided twice", deciding, outcome, other));
    }

    /** At the end, the key is completed if that was decided. A released key is not parked for the same claim. */
    private static void judgeEnd(KeyHistory key, Event deciding, Event outcome, Findings findings) {
        boolean undone = outcome.kind() == Kind.COMPLETED
                ? !key.status().equals("COMPLETED")
                : key.status().equals("PARKED") && !isMovedAfter(key, deciding, outcome);
        if (undone && !findings.forgottenInTheEnd(key.key(), deciding, outcome)) {
            findings.violated(
                    Invariant.DECISION_STANDS,
                    key.key(),
                    "decided, and in the end its row is '%s'".formatted(key.status()),
                    deciding,
                    outcome);
        }
    }

    /** Returns whether the key was parked once more: another attempt followed, or a decision on another claim. */
    private static boolean isMovedAfter(KeyHistory key, Event deciding, Event outcome) {
        return key.events().stream()
                .filter(event -> event.order() > outcome.order())
                .anyMatch(event -> event.kind() == Kind.ENTERED
                        || (event.kind() == Kind.DECIDING && !isOfOneClaim(event, deciding)));
    }

    /** A decision may be refused only if another decision on the claim counted, or may have counted. */
    private static void judgeRefusal(KeyHistory key, Event deciding, Event refused, Findings findings) {
        boolean explained = others(key, deciding)
                .filter(other -> other.order() < refused.order())
                .anyMatch(other -> key.outcomeOf(other).map(Event::kind).orElse(Kind.COMPLETED) != Kind.OUTDECIDED);
        if (!explained
                && !isToldAsLost(key, deciding, refused, findings)
                && !findings.forgotten(key.key(), parkedFrom(key, deciding), deciding, refused)) {
            findings.violated(
                    Invariant.DECISION_STANDS,
                    key.key(),
                    "refused, though no other decision can have come first",
                    deciding,
                    refused);
        }
    }

    /**
     * Returns whether a release counted although it was reported as lost. The release is this decision, or an earlier
     * one on the same claim. The proof is an attempt that started before the report, because a parked key has no
     * attempts.
     */
    private static boolean isToldAsLost(KeyHistory key, Event deciding, Event refused, Findings findings) {
        return Stream.concat(Stream.of(deciding), others(key, deciding))
                .filter(release -> release.order() < refused.order())
                .anyMatch(release -> key.outcomeOf(release)
                        .filter(told -> told.kind() == Kind.OUTDECIDED)
                        .filter(told -> key.all(Kind.ENTERED)
                                .anyMatch(
                                        entered -> entered.order() > release.order() && entered.order() < told.order()))
                        .filter(told -> findings.toldAsLost(key.key(), release, told))
                        .isPresent());
    }

    /** Returns the earliest event since which the key may have been parked: the start of the last attempt. */
    private static Event parkedFrom(KeyHistory key, Event deciding) {
        Optional<Event> entered = key.all(Kind.ENTERED)
                .filter(event -> event.order() < deciding.order())
                .reduce((earlier, later) -> later);
        return entered.orElse(deciding);
    }

    private static Stream<Event> others(KeyHistory key, Event deciding) {
        return key.all(Kind.DECIDING).filter(other -> !other.equals(deciding) && isOfOneClaim(other, deciding));
    }

    private static boolean isOfOneClaim(Event one, Event other) {
        return one.detail(Detail.CLAIM).equals(other.detail(Detail.CLAIM));
    }
}
