package io.exactlyonce.benchmarks.drain;

import io.exactlyonce.benchmarks.worker.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import tools.jackson.databind.json.JsonMapper;

/**
 * The messages of a turn, which are the same for all contestants.
 *
 * @param bodies the bodies in sending order
 * @param different the number of different orders
 */
record Orders(List<String> bodies, int different) {

    /** The longest distance between an order and its duplicate, as after a short visibility timeout. */
    private static final int FAR = 100;

    /**
     * Makes messages.
     *
     * @param turn the number of the turn, so that each turn has new keys
     * @param duplicates the number of messages of which one repeats an earlier one; 0 if none does
     */
    static Orders of(int turn, int messages, int duplicates) {
        Random random = new Random(turn);
        List<String> bodies = new ArrayList<>();
        int different = 0;
        for (int i = 0; i < messages; i++) {
            boolean repeats = duplicates > 0 && i % duplicates == duplicates - 1;
            int number = repeats ? different - 1 - random.nextInt(Math.min(FAR, different)) : different++;
            Order order = new Order("turn-%d-order-%d".formatted(turn, number), number, 1_000 + number);
            bodies.add(JsonMapper.shared().writeValueAsString(order));
        }
        return new Orders(bodies, different);
    }
}
