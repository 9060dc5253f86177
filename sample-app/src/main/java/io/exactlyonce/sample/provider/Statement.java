package io.exactlyonce.sample.provider;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * A ledger's figures. A request is honoured if its idempotency key had charged before: it is answered with that charge.
 *
 * @param charges how often each order was charged; orders without a charge are absent
 * @param explained the order of each honoured request that a worker's crash explains
 * @param unexplained the order of each other honoured request: its handler ran again for no good reason
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

    /** Returns how many charges there are in all. */
    public long total() {
        return charges.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns how many charges there are beyond one for each order. */
    public long duplicates() {
        return total() - charges.size();
    }

    /** Returns how many orders were charged more than once. */
    public long ordersChargedTwiceOrMore() {
        return charges.values().stream().filter(times -> times > 1).count();
    }

    /** Returns how many charges the idempotency key prevented. */
    public long honouredTotal() {
        return (long) explained.size() + unexplained.size();
    }
}
