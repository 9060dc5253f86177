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
 * What a scenario wants of containers, and awspring has no property for. The same for all contestants.
 *
 * @param virtualThreads ours choose them by themselves
 * @param threads how many share the work of handlers that hold none; 0 for one for each message
 * @param acknowledgesAtOnce whether each deletion is sent by itself
 */
record ContainerOptions(boolean virtualThreads, int threads, boolean acknowledgesAtOnce) {

    static ContainerOptions of(Environment environment) {
        return new ContainerOptions(
                Threading.VIRTUAL.isActive(environment),
                environment.getProperty("bench.threads", Integer.class, 0),
                environment.getProperty("bench.acknowledge-at-once", Boolean.class, false));
    }

    /** A container that listens already is left alone, if nothing is wanted of it. */
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
