package io.exactlyonce.sample.lab;

import io.exactlyonce.sample.provider.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * What one side did, counted after its queue was drained and its workers had ended.
 *
 * @param ordered the ids of the orders that were sent
 * @param ledger the provider's figures
 * @param recorded the ids of the orders that have a row in the database
 * @param p95 95th percentile of the handler's run time, of the runs that reached their end
 * @param window the queue's visibility timeout
 * @param killed names of the workers that were killed
 * @param endedByThemselves names of the workers that ended without having been stopped
 * @param left how many messages were still in its queues
 * @param shipments how often each order was shipped
 */
record SideFigures(
        Set<String> ordered,
        Statement ledger,
        Set<String> recorded,
        Duration p95,
        Duration window,
        Set<String> killed,
        List<String> endedByThemselves,
        long left,
        Statement shipments) {

    long duplicates() {
        return ledger.duplicates();
    }

    /** Returns how many orders were not charged, or have no row. */
    long lost() {
        return ordered.stream()
                .filter(order -> !ledger.charges().containsKey(order) || !recorded.contains(order))
                .count();
    }

    /** Returns how many orders were shipped more than once. */
    long shippedTwice() {
        return shipments.ordersChargedTwiceOrMore();
    }

    /** Returns how many orders were not shipped. */
    long unshipped() {
        return ordered.stream()
                .filter(order -> !shipments.charges().containsKey(order))
                .count();
    }

    /** Returns how many handler calls got as far as asking for money. */
    long chargeRequests() {
        return ledger.total() + ledger.honouredTotal();
    }

    long p95InPercentOfWindow() {
        return p95.toMillis() * 100 / window.toMillis();
    }
}
