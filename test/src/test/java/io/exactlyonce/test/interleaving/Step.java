package io.exactlyonce.test.interleaving;

import static net.jqwik.api.Tuple.of;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomDistribution;

/**
 * One thing that happens. A worker pauses by not coming up for a while; its next step may come after others took its keys
 * over.
 *
 * @param worker who does it
 * @param key to which key
 * @param variant how: with which payload and lease, under how old a claim or sight, for how long
 */
record Step(Kind kind, int worker, int key, int variant) {

    enum Kind {
        CLAIM,
        CLAIM_CAUTIOUSLY,
        CLAIM_ALL_KEYS,
        /** The reply to the worker's claim was lost. */
        CLAIM_AGAIN,
        RENEW,
        COMPLETE,
        RELEASE,
        RELEASE_IN_DOUBT,
        PARK,
        PARK_IN_DOUBT,
        LOOK,
        /** A person looks at parked keys, and at times decides on what was seen long ago. */
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

    /** Mixed ones, and ones in which the same key is parked again and again. */
    static Arbitrary<List<Step>> interleavings() {
        return Arbitraries.oneOf(interleavings(kinds(), WORKERS, KEYS), interleavings(kindsAroundParking(), 1, 1));
    }

    private static Arbitrary<List<Step>> interleavings(Arbitrary<Kind> kinds, int workers, int keys) {
        return Combinators.combine(
                        kinds,
                        Arbitraries.integers().between(0, workers - 1),
                        Arbitraries.integers().between(0, keys - 1),
                        Arbitraries.integers().between(0, VARIANTS - 1))
                .as(Step::new)
                .list()
                .ofMaxSize(MOST_STEPS)
                .withSizeDistribution(RandomDistribution.uniform());
    }

    private static Arbitrary<Kind> kinds() {
        return Arbitraries.frequency(
                of(6, Kind.CLAIM),
                of(2, Kind.CLAIM_CAUTIOUSLY),
                of(2, Kind.CLAIM_ALL_KEYS),
                of(2, Kind.CLAIM_AGAIN),
                of(3, Kind.RENEW),
                of(3, Kind.COMPLETE),
                of(3, Kind.RELEASE),
                of(1, Kind.RELEASE_IN_DOUBT),
                of(2, Kind.PARK),
                of(1, Kind.PARK_IN_DOUBT),
                of(1, Kind.LOOK),
                of(3, Kind.RELEASE_PARKED),
                of(1, Kind.COMPLETE_PARKED),
                of(1, Kind.CRASH),
                of(6, Kind.CLOCK_JUMP));
    }

    private static Arbitrary<Kind> kindsAroundParking() {
        return Arbitraries.frequency(
                of(4, Kind.CLAIM),
                of(2, Kind.CLAIM_CAUTIOUSLY),
                of(4, Kind.CLAIM_ALL_KEYS),
                of(6, Kind.PARK),
                of(2, Kind.PARK_IN_DOUBT),
                of(1, Kind.LOOK),
                of(8, Kind.RELEASE_PARKED),
                of(2, Kind.COMPLETE_PARKED),
                of(2, Kind.CLOCK_JUMP));
    }
}
