package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.Visibility;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.annotation.Value;

/**
 * Uses one timer per message, with one request at each half of the visibility timeout, which is the common solution.
 */
class HeldTimerOrders {

    private final HeldWork work;
    private final int windowSeconds;
    private final ScheduledExecutorService timers = Executors.newScheduledThreadPool(1);

    HeldTimerOrders(HeldWork work, @Value("${bench.window}") int windowSeconds) {
        this.work = work;
        this.windowSeconds = windowSeconds;
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    CompletableFuture<Void> handle(Order order, Visibility visibility) {
        long half = TimeUnit.SECONDS.toMillis(windowSeconds) / 2;
        Runnable renewal = () -> {
            var unused = visibility.changeToAsync(windowSeconds);
        };
        ScheduledFuture<?> timer = timers.scheduleAtFixedRate(renewal, half, half, TimeUnit.MILLISECONDS);
        return work.on(order).whenComplete((done, failure) -> timer.cancel(false));
    }
}
