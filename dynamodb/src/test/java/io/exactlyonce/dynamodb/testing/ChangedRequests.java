package io.exactlyonce.dynamodb.testing;

import java.util.function.UnaryOperator;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * Requests that say something else than they were meant to, for as long as this is open: every client of {@link LocalDynamoDb}
 * sends what comes out of it. So a test runs as it is, on requests that it does not know of.
 */
public final class ChangedRequests implements AutoCloseable {

    private static volatile UnaryOperator<SdkRequest> change = UnaryOperator.identity();

    private ChangedRequests() {}

    /** Changes requests from now on. */
    public static ChangedRequests open(UnaryOperator<SdkRequest> changing) {
        change = changing;
        return new ChangedRequests();
    }

    @Override
    public void close() {
        change = UnaryOperator.identity();
    }

    /** Returns what a client is given. */
    static ExecutionInterceptor interceptor() {
        return new ExecutionInterceptor() {
            @Override
            public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes attributes) {
                return change.apply(context.request());
            }
        };
    }
}
