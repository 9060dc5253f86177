package io.exactlyonce.sample.provider;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The figures of a ledger. A request is honoured if its idempotency key had charged before, and the answer is the
 * earlier charge.
 *
 * @param charges how often each order was charged; orders without a charge are absent
 * @param explained the order of each honoured request that a worker's crash explains
 * @param unexplained the order of each other honoured request, whose handler should not have run again
 */
public record Statement(Map<String, Long> charges, List<String> explained, List<String> unexplained) {

    public Statement {
        charges = Map.copyOf(charges);
        explained = List.copyOf(explained);
        unexplained = List.copyOf(unexplained);
    }

    static Statement of(Collection<Charge> charges, List<String> explained, List<String> unexplained) {
        return new Statement(charges.stream().collect(groupingBy(Charge::orderId, counting())), explained, unexplained);
    }

    /** Returns the number of all charges. */
    public long total() {
        return charges.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the number of charges beyond one per order. */
    public long duplicates() {
        return total() - charges.size();
    }

    /** Returns the number of orders that were charged more than once. */
    public long ordersChargedTwiceOrMore() {
        return charges.values().stream().filter(times -> times > 1).count();
    }

    /** Returns the number of charges that idempotency keys prevented. */
    public long honouredTotal() {
        return (long) explained.size() + unexplained.size();
    }
}
