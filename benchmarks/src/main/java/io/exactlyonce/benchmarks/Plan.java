package io.exactlyonce.benchmarks;

import io.exactlyonce.benchmarks.load.RepeatRule;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * How much a scenario measures.
 *
 * @param form how much is asked for
 * @param rounds turns of each contestant
 * @param warmUp of each contestant, not counted
 * @param turn of each contestant in each round
 * @param repeats what becomes of turns on a busy machine
 * @param steady whether contestants warm up further, until they become no faster
 * @param beforeTurns is done between the last warm-up and the first turn
 */
public record Plan(
        Form form, int rounds, Turn warmUp, Turn turn, RepeatRule repeats, boolean steady, Runnable beforeTurns) {

    /** How much is asked for. */
    public enum Form {
        /** Proves that the benchmarks work, and no more. */
        SHORT,
        /** Ratios of the contestants that matter most, in a few minutes a scenario. */
        QUICK,
        /** All contestants, long enough for figures that can be published. */
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
        // Turns begin as soon as contestants are warm.
    }

    /** Returns the same with something to be done between the last warm-up and the first turn. */
    public Plan withBeforeTurns(Runnable other) {
        return new Plan(form, rounds, warmUp, turn, repeats, steady, other);
    }

    /** Returns the same with another number of rounds. */
    public Plan withRounds(int other) {
        return new Plan(form, other, warmUp, turn, repeats, steady, beforeTurns);
    }

    /** Returns the same with other numbers of messages. */
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

    /** Returns how many messages listeners may have at a time, one after the other. */
    public List<Integer> concurrencies() {
        if (isShort()) {
            return List.of(100);
        }
        String wanted = System.getProperty("bench.concurrency", "100,10");
        return Stream.of(wanted.split(",")).map(Integer::valueOf).toList();
    }

    /** {@code -Dbench.contestants=PLAIN,EXTERNAL} leaves the rest out: for a look at one thing. */
    public boolean wants(Enum<?> contestant) {
        String wanted = System.getProperty("bench.contestants", "");
        return wanted.isEmpty() || List.of(wanted.split(",")).contains(contestant.name());
    }

    /** Returns one of three, by how much is asked for. */
    public <T> T choose(T ifShort, T ifQuick, T ifFull) {
        return switch (form) {
            case SHORT -> ifShort;
            case QUICK -> ifQuick;
            case FULL -> ifFull;
        };
    }

    /** Returns whether this proves no more than that the benchmarks work. */
    public boolean isShort() {
        return form == Form.SHORT;
    }
}
