package io.exactlyonce.sample.lab;

import io.exactlyonce.sample.provider.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Creates figures of one side of the lab. A flawless side has three orders, charged and recorded once, and one killed
 * worker.
 */
final class Sides {

    static final Set<String> ORDERS = Set.of("o1", "o2", "o3");

    private Sides() {}

    static SideFigures flawless() {
        return of(charges(1), ORDERS, Set.of("w1"), List.of(), 0);
    }

    /** Returns a side that charged o1 more than once. */
    static SideFigures withDuplicates(long duplicates) {
        return of(charges(1 + duplicates), ORDERS, Set.of("w1"), List.of(), 0);
    }

    static SideFigures of(
            Map<String, Long> charges, Set<String> recorded, Set<String> killed, List<String> ended, long left) {
        return of(new Statement(charges, List.of("o1", "o2"), List.of()), recorded, killed, ended, left);
    }

    /**
     * Returns a side whose provider honoured the keys of o1 and o2 after the crash, and the keys of the given orders
     * without a crash.
     */
    static SideFigures withUnexplained(String... orders) {
        Statement ledger = new Statement(charges(1), List.of("o1", "o2"), List.of(orders));
        return of(ledger, ORDERS, Set.of("w1"), List.of(), 0);
    }

    private static SideFigures of(
            Statement ledger, Set<String> recorded, Set<String> killed, List<String> ended, long left) {
        return new SideFigures(
                ORDERS,
                ledger,
                recorded,
                Duration.ofMillis(6_000),
                Duration.ofSeconds(2),
                killed,
                ended,
                left,
                new Statement(charges(1), List.of(), List.of()));
    }

    /** Returns a side that shipped o1 this number of times. */
    static SideFigures withShipmentsOfFirstOrder(long shipments) {
        SideFigures flawless = flawless();
        return new SideFigures(
                flawless.ordered(),
                flawless.ledger(),
                flawless.recorded(),
                flawless.p95(),
                flawless.visibilityTimeout(),
                flawless.killed(),
                flawless.endedByThemselves(),
                flawless.left(),
                new Statement(charges(shipments), List.of(), List.of()));
    }

    static Map<String, Long> charges(long ofFirstOrder) {
        Map<String, Long> charges = new HashMap<>(Map.of("o2", 1L, "o3", 1L));
        if (ofFirstOrder > 0) {
            charges.put("o1", ofFirstOrder);
        }
        return charges;
    }
}
