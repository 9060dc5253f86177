package io.exactlyonce.listener.startup;

import io.awspring.cloud.sqs.listener.FifoBatchGroupingStrategy;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.ClaimTransaction.Pool;
import io.exactlyonce.listener.method.ListenerMethod;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Logs at WARN at startup if a database connection pool is too small for its listeners. With {@code effects =
 * DATABASE}, each running handler occupies a connection. If all connections are occupied, further claims must wait.
 */
public final class SharedPools implements ApplicationListener<ContextRefreshedEvent> {

    private static final Logger log = LoggerFactory.getLogger(SharedPools.class);

    private final List<Demand> demands = new CopyOnWriteArrayList<>();
    private final Set<Pool> warned = ConcurrentHashMap.newKeySet();

    /** How many connections of a pool a listener may use at once: one for each running handler. */
    private record Demand(String listener, Pool pool, int handlers) {}

    /** Adds a listener when its container is made. */
    public void add(String id, Collection<String> queues, SqsContainerOptions options, ListenerMethod method) {
        ClaimTransaction transaction = method.transaction();
        Pool pool = transaction == null ? null : transaction.pool();
        if (pool != null) {
            int handlers = queues.stream()
                    .mapToInt(queue -> handlers(queue, options, method))
                    .sum();
            demands.add(new Demand(id, pool, handlers));
        }
    }

    /**
     * Returns how many handlers of a queue may run at once. If handlers take batches, each batch is assumed to be full.
     * But if each FIFO group has its own batches, each batch is assumed to have only one message.
     */
    private static int handlers(String queue, SqsContainerOptions options, ListenerMethod method) {
        int messages = options.getMaxConcurrentMessages();
        boolean hasBatchOfEachGroup = queue.endsWith(".fifo")
                && options.getFifoBatchGroupingStrategy()
                        == FifoBatchGroupingStrategy.PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES;
        int batch = method.isBatch() && !hasBatchOfEachGroup ? options.getMaxMessagesPerPoll() : 1;
        return (messages + batch - 1) / batch;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent refreshed) {
        demands.stream().collect(Collectors.groupingBy(Demand::pool)).forEach((pool, all) -> warnIfSmaller(pool, all));
    }

    private void warnIfSmaller(Pool pool, List<Demand> demands) {
        int handlers = demands.stream().mapToInt(Demand::handlers).sum();
        if (handlers > pool.connections() && warned.add(pool)) {
            log.warn(
                    "Pool '{}' has {} connections, but handlers with effects = DATABASE may use {} at once ({}): claims of"
                            + " the others wait for a connection. Enlarge the pool (spring.datasource.hikari.maximum-pool-size)"
                            + " to {} and what else uses it, or lower maxConcurrentMessages",
                    pool.name(),
                    pool.connections(),
                    handlers,
                    demands.stream()
                            .map(demand -> demand.listener() + " " + demand.handlers())
                            .collect(Collectors.joining(", ")),
                    handlers);
        }
    }
}
