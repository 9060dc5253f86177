package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.MessageExecutionThreadFactory;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import java.time.Duration;
import org.springframework.boot.thread.Threading;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * Container options that scenarios need and for which Spring Cloud AWS has no property. They are the same for all
 * contestants.
 *
 * @param virtualThreads whether handlers run on virtual threads; our listeners choose them by themselves
 * @param threads the number of threads that share the work of handlers without threads; 0 for one per message
 * @param acknowledgesAtOnce whether each deletion is sent alone
 */
record ContainerOptions(boolean virtualThreads, int threads, boolean acknowledgesAtOnce) {

    static ContainerOptions of(Environment environment) {
        return new ContainerOptions(
                Threading.VIRTUAL.isActive(environment),
                environment.getProperty("bench.threads", Integer.class, 0),
                environment.getProperty("bench.acknowledge-at-once", Boolean.class, false));
    }

    /** Configures a container. A container that already runs is not changed if no option is set. */
    void configure(SqsMessageListenerContainer<?> container) {
        if (!virtualThreads && threads == 0 && !acknowledgesAtOnce) {
            return;
        }
        boolean chooses = container.getContainerOptions().getComponentsTaskExecutor() == null;
        container.configure(options -> {
            if (acknowledgesAtOnce) {
                options.acknowledgementInterval(Duration.ZERO).acknowledgementThreshold(0);
            }
            if (threads > 0) {
                shareThreads(options);
            } else if (virtualThreads && chooses) {
                SimpleAsyncTaskExecutor virtual = new SimpleAsyncTaskExecutor("orders-");
                virtual.setVirtualThreads(true);
                options.componentsTaskExecutor(virtual);
            }
        });
    }

    private void shareThreads(SqsContainerOptionsBuilder options) {
        ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
        pool.setThreadFactory(new MessageExecutionThreadFactory("orders-"));
        pool.setCorePoolSize(threads);
        pool.initialize();
        options.componentsTaskExecutor(pool);
    }
}
