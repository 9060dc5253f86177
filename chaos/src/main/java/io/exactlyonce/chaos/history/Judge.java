package io.exactlyonce.chaos.history;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Judges the file of an earlier run with the current checker. Arguments: the file, and the {@link Terms} as ISO
 * durations and a boolean ({@code PT60S PT153S PT10S PT0.1S true}). Exit code 0 only if every invariant held.
 */
public final class Judge {

    private Judge() {}

    /** Judges the file, prints the verdict, and exits. */
    public static void main(String[] arguments) throws IOException {
        System.exit(judge(arguments, System.out));
    }

    static int judge(String[] arguments, PrintStream out) throws IOException {
        if (arguments.length != 6) {
            out.println(
                    "Usage: Judge <history.jsonl> <longest drain> <the same with once(..)> <recovery from an outage> <exposure to a failover> <true with DynamoDB>");
            return 2;
        }
        Terms terms = new Terms(
                Duration.parse(arguments[1]),
                Duration.parse(arguments[2]),
                Duration.parse(arguments[3]),
                Duration.parse(arguments[4]),
                Boolean.parseBoolean(arguments[5]));
        Verdict verdict = new Checker(terms).judge(History.read(Path.of(arguments[0])));
        verdict.violations().forEach(out::println);
        for (ExplainedAnomaly.Cause cause : ExplainedAnomaly.Cause.values()) {
            out.printf("explained: %s=%d%n", cause, verdict.explainedBy(cause));
        }
        out.printf("dead letters: %s%n", verdict.deadLetters());
        out.printf(
                "%s | duplicate effects=%d lost=%d stuck=%d%n",
                verdict.counts(), verdict.duplicateEffects(), verdict.lost(), verdict.stuck());
        return verdict.holds() ? 0 : 1;
    }
}
