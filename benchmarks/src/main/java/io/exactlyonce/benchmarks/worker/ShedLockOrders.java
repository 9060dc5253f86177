package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Takes a lock with the key as its name. The lock is kept for longer than a turn; otherwise it would not prevent a
 * later duplicate.
 */
class ShedLockOrders {

    private static final Duration KEPT = Duration.ofMinutes(10);

    private final Work work;
    private final LockingTaskExecutor locks;

    ShedLockOrders(Work work, JdbcTemplate database) {
        this.work = work;
        this.locks = new DefaultLockingTaskExecutor(
                new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                        .withJdbcTemplate(database)
                        .usingDbTime()
                        .build()));
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    void handle(Order order) {
        Runnable task = () -> work.on(order);
        locks.executeWithLock(task, new LockConfiguration(Instant.now(), order.orderId(), KEPT, KEPT));
    }
}
