package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import io.exactlyonce.delivery.pipeline.DeliveryProcessor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** A call of a listener method, to be gone on with under its claim. */
final class MethodHandler implements DeliveryProcessor.Handler {

    private final ListenerMethod method;
    private final MethodInvocation invocation;

    MethodHandler(ListenerMethod method, MethodInvocation invocation) {
        this.method = method;
        this.invocation = invocation;
    }

    @Override
    public @Nullable Object handle(Claim claim) throws Throwable {
        method.pass(claim, invocation.getArguments());
        return method.requireFuture(invocation.proceed());
    }

    @Override
    public @Nullable Object replay(String json) {
        return method.replay(json);
    }
}
