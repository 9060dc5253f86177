package io.exactlyonce.test.interleaving;

import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A step of a worker. A worker pauses if it has no step for a while; its next step may come after other workers took
 * its keys over.
 *
 * @param worker the worker
 * @param key the key
 * @param variant selects the payload, the lease, the age of the claim or lookup, and the duration
 */
record Step(Kind kind, int worker, int key, int variant) {

    enum Kind {
        CLAIM,
        CLAIM_CAUTIOUSLY,
        CLAIM_ALL_KEYS,
        /** The worker repeats its claim, because the first reply was lost. */
        CLAIM_AGAIN,
        RENEW,
        COMPLETE,
        RELEASE,
        RELEASE_IN_DOUBT,
        PARK,
        PARK_IN_DOUBT,
        LOOK,
        /** An operator looks parked keys up, and sometimes decides on an old lookup. */
        RELEASE_PARKED,
        COMPLETE_PARKED,
        /** The worker forgets its claims and never mentions them again. */
        CRASH,
        CLOCK_JUMP
    }

    static final int WORKERS = 3;
    static final int KEYS = 2;
    private static final int VARIANTS = 4;
    private static final int MOST_STEPS = 50;

    /** The relative frequency of each kind of step. */
    private static final List<Kind> MIXED = weighted(Map.ofEntries(
            Map.entry(Kind.CLAIM, 6),
            Map.entry(Kind.CLAIM_CAUTIOUSLY, 2),
            Map.entry(Kind.CLAIM_ALL_KEYS, 2),
            Map.entry(Kind.CLAIM_AGAIN, 2),
            Map.entry(Kind.RENEW, 3),
            Map.entry(Kind.COMPLETE, 3),
            Map.entry(Kind.RELEASE, 3),
            Map.entry(Kind.RELEASE_IN_DOUBT, 1),
            Map.entry(Kind.PARK, 2),
            Map.entry(Kind.PARK_IN_DOUBT, 1),
            Map.entry(Kind.LOOK, 1),
            Map.entry(Kind.RELEASE_PARKED, 3),
            Map.entry(Kind.COMPLETE_PARKED, 1),
            Map.entry(Kind.CRASH, 1),
            Map.entry(Kind.CLOCK_JUMP, 6)));

    private static final List<Kind> AROUND_PARKING = weighted(Map.of(
            Kind.CLAIM, 4,
            Kind.CLAIM_CAUTIOUSLY, 2,
            Kind.CLAIM_ALL_KEYS, 4,
            Kind.PARK, 6,
            Kind.PARK_IN_DOUBT, 2,
            Kind.LOOK, 1,
            Kind.RELEASE_PARKED, 8,
            Kind.COMPLETE_PARKED, 2,
            Kind.CLOCK_JUMP, 2));

    /** Returns a mixed sequence, or a sequence in which the same key is parked repeatedly. */
    static List<Step> interleaving(RandomGenerator random) {
        return random.nextBoolean()
                ? interleaving(random, MIXED, WORKERS, KEYS)
                : interleaving(random, AROUND_PARKING, 1, 1);
    }

    private static List<Step> interleaving(RandomGenerator random, List<Kind> kinds, int workers, int keys) {
        return Stream.generate(() -> new Step(
                        kinds.get(random.nextInt(kinds.size())),
                        random.nextInt(workers),
                        random.nextInt(keys),
                        random.nextInt(VARIANTS)))
                .limit(random.nextInt(MOST_STEPS + 1))
                .toList();
    }

    /**
     * Kinds are drawn in their declared order. The order of a map differs between JVMs, and a seed must mean the same
     * in all of them.
     */
    private static List<Kind> weighted(Map<Kind, Integer> weights) {
        return Stream.of(Kind.values())
                .flatMap(kind ->
                        IntStream.range(0, weights.getOrDefault(kind, 0)).mapToObj(each -> kind))
                .toList();
    }
}
