package io.exactlyonce.load;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;
import software.amazon.awssdk.services.sqs.model.SqsException;
import software.amazon.awssdk.services.sqs.model.SqsRequest;

/**
 * Makes SQS throttle. Each attempt of a request, including the SDK's retries, is answered by {@code RequestThrottled}.
 * The instance is a bean of the application under test, and counts the refused requests.
 */
final class ThrottledSqs implements SqsAsyncClientCustomizer, ExecutionInterceptor {

    private static final String CODE = "RequestThrottled";
    private static final int STATUS = 403;

    private final Map<Class<?>, AtomicInteger> refused = new ConcurrentHashMap<>();
    private volatile boolean throttles;

    void throttle(boolean throttles) {
        this.throttles = throttles;
    }

    /** Returns how many attempts at requests of a type were refused. */
    int refused(Class<? extends SqsRequest> type) {
        AtomicInteger count = refused.get(type);
        return count == null ? 0 : count.get();
    }

    /** Returns how many attempts were refused. */
    int refused() {
        return refused.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    @Override
    public void customize(SqsAsyncClientBuilder builder) {
        builder.overrideConfiguration(builder.overrideConfiguration().toBuilder()
                .addExecutionInterceptor(this)
                .build());
    }

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        if (throttles) {
            refused.computeIfAbsent(context.request().getClass(), type -> new AtomicInteger())
                    .incrementAndGet();
            throw SqsException.builder()
                    .statusCode(STATUS)
                    .awsErrorDetails(AwsErrorDetails.builder().errorCode(CODE).build())
                    .message(CODE)
                    .build();
        }
    }
}
