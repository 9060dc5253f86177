package io.exactlyonce.dynamodb.testing;

import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpResponse;

/**
 * Replaces the answers to executed requests with a server error. The SDK repeats the request, and its caller does not
 * see the first attempt.
 */
public final class DropsReplies implements ExecutionInterceptor {

    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger dropped = new AtomicInteger();

    /** Drops the next answer. */
    public void dropNext() {
        next.set(1);
    }

    /** Returns the number of dropped answers. */
    public int dropped() {
        return dropped.get();
    }

    @Override
    public SdkHttpResponse modifyHttpResponse(Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
        if (next.getAndUpdate(left -> Math.max(0, left - 1)) == 0) {
            return context.httpResponse();
        }
        dropped.incrementAndGet();
        return context.httpResponse().toBuilder().statusCode(500).build();
    }
}
