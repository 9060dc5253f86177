package io.exactlyonce.sample.lab;

import io.exactlyonce.sample.provider.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * The figures of one side, counted after its queue was drained and its workers ended.
 *
 * @param ordered the ids of the orders that were sent
 * @param ledger the provider's figures
 * @param recorded the ids of the orders with a row in the database
 * @param p95 the 95th percentile of the handler's run time, for runs that reached their end
 * @param visibilityTimeout the queue's visibility timeout
 * @param killed the names of the workers that were killed
 * @param endedByThemselves the names of the workers that ended without being stopped
 * @param left the number of messages that stayed in its queues
 * @param shipments how often each order was shipped
 */
record SideFigures(
        Set<String> ordered,
        Statement ledger,
        Set<String> recorded,
        Duration p95,
        Duration visibilityTimeout,
        Set<String> killed,
        List<String> endedByThemselves,
        long left,
        Statement shipments) {

    long duplicates() {
        return ledger.duplicates();
    }

    /** Returns the number of orders that were not charged, or have no row. */
    long lost() {
        return ordered.stream()
                .filter(order -> !ledger.charges().containsKey(order) || !recorded.contains(order))
                .count();
    }

    /** Returns the number of orders that were shipped more than once. */
    long shippedTwice() {
        return shipments.ordersChargedTwiceOrMore();
    }

    /** Returns the number of orders that were not shipped. */
    long unshipped() {
        return ordered.stream()
                .filter(order -> !shipments.charges().containsKey(order))
                .count();
    }

    /** Returns the number of handler calls that requested a charge. */
    long chargeRequests() {
        return ledger.total() + ledger.honouredTotal();
    }

    long p95InPercentOfWindow() {
        return p95.toMillis() * 100 / visibilityTimeout.toMillis();
    }
}
