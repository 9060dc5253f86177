package io.exactlyonce.listener.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.awspring.cloud.sqs.listener.FifoBatchGroupingStrategy;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.method.ListenerMethod;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.event.ContextRefreshedEvent;

/** Tests the warning about a pool that is too small for the handlers of all its listeners. */
class SharedPoolsTests {

    private final SharedPools pools = new SharedPools();
    private final CapturedLog log = new CapturedLog(SharedPools.class);

    /** A store whose transactions use a known pool, or an unknown pool if {@code pool} is null. */
    private record Pooled(@Nullable Pool pool) implements ClaimTransaction {
        @Override
        public List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) {
            throw new AssertionError("no message came");
        }
    }

    @AfterEach
    void close() {
        log.close();
    }

    private static ClaimTransaction of(String pool, int connections) {
        return new Pooled(new ClaimTransaction.Pool(pool, connections));
    }

    private static SqsContainerOptions options(int most, int poll, FifoBatchGroupingStrategy groups) {
        return SqsContainerOptions.builder()
                .maxConcurrentMessages(most)
                .maxMessagesPerPoll(poll)
                .fifoBatchGroupingStrategy(groups)
                .build();
    }

    private void add(String id, int most, @Nullable ClaimTransaction transaction) {
        add(
                id,
                List.of("orders"),
                options(most, Math.min(most, 10), FifoBatchGroupingStrategy.PROCESS_MULTIPLE_GROUPS_IN_SAME_BATCH),
                false,
                transaction);
    }

    private void add(
            String id,
            List<String> queues,
            SqsContainerOptions options,
            boolean isBatch,
            @Nullable ClaimTransaction transaction) {
        ExactlyOnceListener annotation = mock();
        ListenerMethod method = new ListenerMethod(
                Object.class.getMethods()[0],
                annotation,
                false,
                true,
                false,
                isBatch,
                null,
                null,
                null,
                null,
                null,
                InDoubtSettings.RERUN,
                transaction,
                MismatchPolicy.AS_CONFIGURED,
                MissingKeyPolicy.REFUSE);
        pools.add(id, queues, options, method);
    }

    private String start() {
        ContextRefreshedEvent started = mock();
        pools.onApplicationEvent(started);
        pools.onApplicationEvent(started);
        return log.text();
    }

    @Test
    void poolThatIsSmallerThanAllConcurrencyTogetherIsReportedOnce() {
        add("orders", 10, of("HikariPool-1", 12));
        add("bookings", 5, of("HikariPool-1", 12));

        assertThat(start())
                .containsOnlyOnce(
                        "Pool 'HikariPool-1' has 12 connections, but handlers with effects = DATABASE may use 15 at once"
                                + " (orders 10, bookings 5)")
                .contains("spring.datasource.hikari.maximum-pool-size) to 15");
    }

    @Test
    void nothingIsReportedOfPoolsThatAreLargeEnoughOrUnknownNorOfOtherListeners() {
        add("orders", 10, of("HikariPool-1", 10));
        add("bookings", 10, of("HikariPool-2", 10));
        add("unknown", 1000, new Pooled(null));
        add("external", 1000, null);

        assertThat(start()).isEmpty();
    }

    @Test
    void eachQueueOfAListenerCounts() {
        add(
                "orders",
                List.of("a", "b"),
                options(6, 6, FifoBatchGroupingStrategy.PROCESS_MULTIPLE_GROUPS_IN_SAME_BATCH),
                false,
                of("pool", 10));

        assertThat(start()).contains("may use 12 at once");
    }

    /** One handler call takes a whole batch. Groups that run in parallel have a separate batch each. */
    @ParameterizedTest
    @CsvSource({
        "orders, PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES, 3",
        "orders.fifo, PROCESS_MULTIPLE_GROUPS_IN_SAME_BATCH, 3",
        "orders.fifo, PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES, 25"
    })
    void batchCountsAsOneHandler(String queue, FifoBatchGroupingStrategy groups, int handlers) {
        add("orders", List.of(queue), options(25, 10, groups), true, of("pool", 1));

        assertThat(start()).contains("may use %d at once".formatted(handlers));
    }
}
