package io.exactlyonce.testing;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;
import software.amazon.awssdk.services.sqs.model.SqsRequest;

/**
 * Records the requests between an application and SQS, and lets a test fail requests before they are sent. A bean of
 * the application under test.
 */
public final class SqsRequests implements SqsAsyncClientCustomizer, ExecutionInterceptor {

    private final List<SdkRequest> requests = new CopyOnWriteArrayList<>();
    private final List<Message> received = new CopyOnWriteArrayList<>();
    private final Map<Class<?>, AtomicInteger> failuresLeft = new ConcurrentHashMap<>();
    private volatile RuntimeException failure = SdkClientException.create("The test lets this request fail");

    /** Lets the next requests of a type fail. */
    public void failNext(Class<? extends SqsRequest> type, int times) {
        failuresLeft.put(type, new AtomicInteger(times));
    }

    /** Lets all requests of a type fail from now on. */
    public void failAll(Class<? extends SqsRequest> type) {
        failNext(type, Integer.MAX_VALUE);
    }

    /** Sets how failing requests fail: by an answer of SQS, or as if SQS could not be reached. */
    public void failBy(RuntimeException failure) {
        this.failure = failure;
    }

    /** Lets requests of a type succeed again. */
    public void failNone(Class<? extends SqsRequest> type) {
        failuresLeft.remove(type);
    }

    /** Returns the requests of a type so far, including those that failed here. */
    public <T extends SqsRequest> List<T> of(Class<T> type) {
        return requests.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /**
     * Returns the messages received so far. A message is listed once for each receive, with different receipt handles.
     */
    public List<Message> received() {
        return received;
    }

    /** Returns the number of receives of the message that was received most often. */
    public long mostReceives() {
        return received.stream()
                .collect(Collectors.groupingBy(Message::messageId, Collectors.counting()))
                .values()
                .stream()
                .mapToLong(Long::longValue)
                .max()
                .orElse(0);
    }

    @Override
    public void customize(SqsAsyncClientBuilder builder) {
        builder.overrideConfiguration(builder.overrideConfiguration().toBuilder()
                .addExecutionInterceptor(this)
                .build());
    }

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
        SdkRequest request = context.request();
        requests.add(request);
        AtomicInteger left = failuresLeft.get(request.getClass());
        if (left != null && left.getAndDecrement() > 0) {
            throw failure;
        }
    }

    @Override
    public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
        if (context.response() instanceof ReceiveMessageResponse response) {
            received.addAll(response.messages());
        }
    }
}
