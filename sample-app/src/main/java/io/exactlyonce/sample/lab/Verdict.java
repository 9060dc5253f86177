package io.exactlyonce.sample.lab;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The verdict on the experiment: the naive side must show the incident, and our side must not.
 *
 * @param objections the problems, each with its remedy; empty if there are none
 * @param lastLine both sides' figures in one line
 */
public record Verdict(List<String> objections, String lastLine) {

    private static final int MOST_NAMED = 5;

    public Verdict {
        objections = List.copyOf(objections);
    }

    static Verdict of(SideFigures naive, SideFigures exactlyOnce) {
        List<String> objections = new ArrayList<>();
        if (naive.duplicates() == 0) {
            objections.add("The naive side has no duplicate charge, so the incident did not happen; send more orders");
        }
        objectToOurs(exactlyOnce, objections);
        objectToSide(Kind.NAIVE, naive, objections);
        objectToSide(Kind.EXACTLY_ONCE, exactlyOnce, objections);
        return new Verdict(
                objections,
                String.format(
                        Locale.ROOT,
                        "naive duplicates=%d lost=%d | exactly-once duplicates=%d lost=%d",
                        naive.duplicates(),
                        naive.lost(),
                        exactlyOnce.duplicates(),
                        exactlyOnce.lost()));
    }

    /** Returns the process's exit code. */
    public int exitCode() {
        return objections.isEmpty() ? 0 : 1;
    }

    private static void objectToOurs(SideFigures side, List<String> objections) {
        if (side.duplicates() > 0) {
            objections.add(
                    "The exactly-once side has %d duplicate charges; 0 are allowed".formatted(side.duplicates()));
        }
        if (side.lost() > 0) {
            objections.add("The exactly-once side lost %d orders; 0 are allowed".formatted(side.lost()));
        }
        if (side.shippedTwice() > 0) {
            objections.add("The exactly-once side shipped %d orders more than once; 0 are allowed"
                    .formatted(side.shippedTwice()));
        }
        if (side.unshipped() > 0) {
            objections.add("The exactly-once side did not ship %d orders; 0 are allowed".formatted(side.unshipped()));
        }
        // The provider would hide that claims do not work, because a charge with a known key is no duplicate.
        List<String> again = side.ledger().unexplained();
        if (!again.isEmpty()) {
            objections.add(("The exactly-once side charged again %d times without a crash as the reason, and only the"
                            + " provider's idempotency key prevented duplicates; 0 are allowed (orders: %s)")
                    .formatted(again.size(), someOf(again)));
        }
    }

    private static String someOf(List<String> orders) {
        List<String> distinct = orders.stream().distinct().toList();
        String some = distinct.stream().limit(MOST_NAMED).collect(joining(", "));
        return distinct.size() > MOST_NAMED ? some + ", ..." : some;
    }

    private static void objectToSide(Kind kind, SideFigures side, List<String> objections) {
        if (side.killed().isEmpty()) {
            objections.add("No %s worker was killed in mid-handler; send more orders".formatted(kind.label()));
        }
        if (side.left() > 0) {
            objections.add(
                    "The %s queue still holds %d messages; it must be drained".formatted(kind.label(), side.left()));
        }
        if (!side.endedByThemselves().isEmpty()) {
            objections.add("Workers %s ended by themselves; see their logs".formatted(side.endedByThemselves()));
        }
    }
}
