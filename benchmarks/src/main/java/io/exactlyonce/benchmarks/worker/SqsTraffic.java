package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.beans.factory.annotation.Value;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * Measures a drain in the same way for all listeners: from the first message that the queue delivers until the queue
 * has confirmed nearly all deletions. The last deletions wait up to a second in Spring Cloud AWS's buffer, which does
 * not depend on a listener's speed.
 */
class SqsTraffic implements SqsAsyncClientCustomizer, ExecutionInterceptor {

    private static final double MOST = 0.98;

    private final int connections;
    private final AtomicLong firstReceive = new AtomicLong();
    private final AtomicInteger deleted = new AtomicInteger();
    private volatile int messages;
    private volatile long mostDeleted;
    private volatile CountDownLatch all = new CountDownLatch(0);
    private final SqsRequestCounts requests = new SqsRequestCounts();
    private final TimeInHand timeInHand = new TimeInHand();

    /** @param connections the most connections to SQS; the SDK's default is 50 */
    SqsTraffic(@Value("${bench.connections:50}") int connections) {
        this.connections = connections;
    }

    void begin(int expected) {
        firstReceive.set(0);
        deleted.set(0);
        mostDeleted = 0;
        messages = expected;
        all = new CountDownLatch(1);
        timeInHand.begin();
    }

    SqsRequestCounts requests() {
        return requests;
    }

    TimeInHand timeInHand() {
        return timeInHand;
    }

    /** Waits until all messages are deleted. Returns false on timeout. */
    boolean await(long seconds) throws InterruptedException {
        return all.await(seconds, TimeUnit.SECONDS);
    }

    int deleted() {
        return deleted.get();
    }

    /** Returns messages per second. */
    double rate() {
        return mostDeleted == 0 ? 0 : most() * 1e9 / (mostDeleted - firstReceive.get());
    }

    private int most() {
        return (int) Math.ceil(MOST * messages);
    }

    @Override
    public void customize(SqsAsyncClientBuilder builder) {
        builder.httpClientBuilder(NettyNioAsyncHttpClient.builder().maxConcurrency(connections));
        builder.overrideConfiguration(builder.overrideConfiguration().toBuilder()
                .addExecutionInterceptor(this)
                .build());
    }

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
        requests.count(context.request());
        timeInHand.sending(context.request());
    }

    @Override
    public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
        if (context.response() instanceof ReceiveMessageResponse received && received.hasMessages()) {
            firstReceive.compareAndSet(0, System.nanoTime());
            timeInHand.received(received);
        } else if (context.response() instanceof DeleteMessageBatchResponse response) {
            count(response.successful().size());
        }
    }

    private void count(int more) {
        int now = deleted.addAndGet(more);
        if (now >= most() && now - more < most()) {
            mostDeleted = System.nanoTime();
        }
        if (now >= messages) {
            all.countDown();
        }
    }
}
