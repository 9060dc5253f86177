package io.exactlyonce.benchmarks;

import io.exactlyonce.benchmarks.load.RepeatRule;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * The extent of a scenario's measurement.
 *
 * @param form the extent of the run
 * @param rounds the number of turns of each contestant
 * @param warmUp the warm-up of each contestant, which does not count
 * @param turn one turn of a contestant
 * @param repeats the rule for turns on a busy machine
 * @param steady whether contestants warm up until they become no faster
 * @param beforeTurns runs between the last warm-up and the first turn
 */
public record Plan(
        Form form, int rounds, Turn warmUp, Turn turn, RepeatRule repeats, boolean steady, Runnable beforeTurns) {

    /** The extent of a run. */
    public enum Form {
        /** Only proves that the benchmarks work. */
        SHORT,
        /** Ratios of the most important contestants, in a few minutes per scenario. */
        QUICK,
        /** All contestants, for long enough to publish the figures. */
        FULL
    }

    static Plan ofSystemProperties() {
        if (System.getProperty("bench.short") != null) {
            return new Plan(
                    Form.SHORT,
                    1,
                    new Turn(Duration.ofMillis(500), 300),
                    new Turn(Duration.ofSeconds(1), 1_000),
                    RepeatRule.NEVER,
                    false,
                    Plan::nothing);
        }
        return System.getProperty("bench.quick") != null
                ? measuring(
                        Form.QUICK, 3, new Turn(Duration.ofSeconds(4), 15_000), new Turn(Duration.ofSeconds(3), 10_000))
                : measuring(
                        Form.FULL, 5, new Turn(Duration.ofSeconds(8), 60_000), new Turn(Duration.ofSeconds(5), 20_000));
    }

    private static Plan measuring(Form form, int rounds, Turn warmUp, Turn turn) {
        return new Plan(
                form,
                Integer.getInteger("bench.rounds", rounds),
                new Turn(warmUp.length(), Integer.getInteger("bench.warm-up", warmUp.messages())),
                new Turn(turn.length(), Integer.getInteger("bench.messages", turn.messages())),
                RepeatRule.ofSystemProperties(),
                System.getProperty("bench.steady") != null,
                Plan::nothing);
    }

    private static void nothing() {
        // Turns start as soon as contestants are warm.
    }

    /** Returns this plan with a task between the last warm-up and the first turn. */
    public Plan withBeforeTurns(Runnable other) {
        return new Plan(form, rounds, warmUp, turn, repeats, steady, other);
    }

    /** Returns this plan with another number of rounds. */
    public Plan withRounds(int other) {
        return new Plan(form, other, warmUp, turn, repeats, steady, beforeTurns);
    }

    /** Returns this plan with other numbers of messages. */
    public Plan withMessages(int warmingUp, int messages) {
        return new Plan(
                form,
                rounds,
                new Turn(warmUp.length(), warmingUp),
                new Turn(turn.length(), messages),
                repeats,
                steady,
                beforeTurns);
    }

    /** Returns the numbers of messages that listeners may process at a time, to be measured one after another. */
    public List<Integer> concurrencies() {
        if (isShort()) {
            return List.of(100);
        }
        String wanted = System.getProperty("bench.concurrency", "100,10");
        return Stream.of(wanted.split(",")).map(Integer::valueOf).toList();
    }

    /** Returns whether a contestant takes part. {@code -Dbench.contestants=PLAIN,EXTERNAL} leaves out all others. */
    public boolean wants(Enum<?> contestant) {
        String wanted = System.getProperty("bench.contestants", "");
        return wanted.isEmpty() || List.of(wanted.split(",")).contains(contestant.name());
    }

    /** Returns the value for this run's form. */
    public <T> T choose(T ifShort, T ifQuick, T ifFull) {
        return switch (form) {
            case SHORT -> ifShort;
            case QUICK -> ifQuick;
            case FULL -> ifFull;
        };
    }

    /** Returns whether the run only proves that the benchmarks work. */
    public boolean isShort() {
        return form == Form.SHORT;
    }
}
