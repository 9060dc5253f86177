package io.exactlyonce.dynamodb.testing;

import java.util.function.UnaryOperator;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * Changes the requests of every client of {@link LocalDynamoDb} until this object is closed. The code of a test stays
 * the same, and only its requests change.
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

    /** Returns the interceptor for a client. */
    static ExecutionInterceptor interceptor() {
        return new ExecutionInterceptor() {
            @Override
            public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes attributes) {
                return change.apply(context.request());
            }
        };
    }
}
