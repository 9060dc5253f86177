package io.exactlyonce.sample.lab;

import java.time.Duration;

/**
 * The size of the experiment. In the incident, the visibility timeout was 30 s and handlers took 35 to 45 s. Here, the
 * times are a fifteenth of that, and the slowest handlers take three and a half visibility timeouts.
 *
 * @param orders the number of orders for each side, from 10 to 2,000
 * @param visibilityTimeout the visibility timeout of both queues, in whole seconds
 * @param workersPerSide the number of worker processes on each side, at least 2
 * @param deadline the time after the start when the run stops trying
 * @param store the store of the exactly-once side's claims
 */
public record LabSettings(int orders, Duration visibilityTimeout, int workersPerSide, Duration deadline, Store store) {

    private static final int FEWEST_ORDERS = 10;
    private static final int MOST_ORDERS = 2_000;

    public LabSettings {
        if (orders < FEWEST_ORDERS || orders > MOST_ORDERS) {
            throw new IllegalArgumentException(
                    "--orders (%d) must be from %d to %d".formatted(orders, FEWEST_ORDERS, MOST_ORDERS));
        }
    }

    /** Returns the settings for a command without arguments. */
    public static LabSettings standard() {
        return new LabSettings(120, Duration.ofSeconds(2), 2, Duration.ofSeconds(105), Store.POSTGRESQL);
    }

    /** Returns a copy with another number of orders. */
    public LabSettings withOrders(int newOrders) {
        return new LabSettings(newOrders, visibilityTimeout, workersPerSide, deadline, store);
    }

    /** Returns a copy with another store. */
    public LabSettings withStore(Store newStore) {
        return new LabSettings(orders, visibilityTimeout, workersPerSide, deadline, newStore);
    }
}
