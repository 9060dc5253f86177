package io.exactlyonce.sample.lab;

import java.time.Duration;

/**
 * How large the experiment is. The incident had a window of 30 s and handlers of 35 to 45 s; here both are a fifteenth
 * and the slow handlers reach further, to three windows and a half.
 *
 * @param orders how many orders are sent to each side, from 10 to 2,000
 * @param window visibility timeout of both queues, whole seconds
 * @param workersPerSide worker processes of each side, at least 2
 * @param deadline when the run gives up, counted from its start
 * @param store where the exactly-once side keeps its claims
 */
public record LabSettings(int orders, Duration window, int workersPerSide, Duration deadline, Store store) {

    private static final int FEWEST_ORDERS = 10;
    private static final int MOST_ORDERS = 2_000;

    public LabSettings {
        if (orders < FEWEST_ORDERS || orders > MOST_ORDERS) {
            throw new IllegalArgumentException(
                    "--orders (%d) must be from %d to %d".formatted(orders, FEWEST_ORDERS, MOST_ORDERS));
        }
    }

    /** Returns the settings of the command without arguments. */
    public static LabSettings standard() {
        return new LabSettings(120, Duration.ofSeconds(2), 2, Duration.ofSeconds(105), Store.POSTGRESQL);
    }

    /** Returns a copy with another number of orders. */
    public LabSettings withOrders(int newOrders) {
        return new LabSettings(newOrders, window, workersPerSide, deadline, store);
    }

    /** Returns a copy with another store. */
    public LabSettings withStore(Store newStore) {
        return new LabSettings(orders, window, workersPerSide, deadline, newStore);
    }
}
