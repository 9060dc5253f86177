package io.exactlyonce.listener.method;

import io.exactlyonce.delivery.pipeline.ClaimedDelivery;
import io.exactlyonce.delivery.pipeline.Handler;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** A call of a listener method that takes single messages, to be continued under the message's claim. */
final class MethodHandler implements Handler {

    private final ListenerMethod method;
    private final MethodInvocation invocation;

    MethodHandler(ListenerMethod method, MethodInvocation invocation) {
        this.method = method;
        this.invocation = invocation;
    }

    @Override
    public CompletionStage<?> handle(List<ClaimedDelivery> claimed) throws Throwable {
        method.pass(claimed.get(0).claim(), invocation.getArguments());
        Object returned = method.requireFuture(invocation.proceed());
        return method.isAsync() && returned instanceof CompletionStage<?> stage
                ? stage
                : CompletableFuture.completedFuture(returned);
    }

    @Override
    public @Nullable Object replay(String json) {
        return method.replay(json);
    }
}
