package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.Handler;
import io.exactlyonce.listener.message.RenewingVisibility;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.messaging.Message;

/**
 * A call of a listener method, to be continued under the claims of its messages. A batch listener's arguments, which were
 * resolved for all of the batch, are cut down to the messages whose keys are held.
 */
final class ListenerCall implements Handler {

    /** Under this name Spring keeps a call's join point, with the arguments that it had when advice first asked for them. */
    private static final String JOIN_POINT = "org.aspectj.lang.JoinPoint";

    private final ListenerMethod method;
    private final List<Message<?>> messages;
    private final List<Attempt> attempts;
    private final MethodInvocation invocation;

    /** Whether the method has returned a future: how that ends is the future's to say. */
    private boolean answered;

    ListenerCall(CurrentDeliveries current, MethodInvocation invocation) {
        this.method = current.method();
        this.messages = current.messages();
        this.attempts = messages.stream().map(CurrentDeliveries::attempt).toList();
        this.invocation = invocation;
    }

    /**
     * Processes the messages, whose keys have been claimed unless the handler's transaction does so.
     *
     * @return what the caller of the method is answered with
     * @throws Throwable what the method threw, or went wrong with its claims
     */
    @Nullable Object process(DeliveryPipeline pipeline) throws Throwable {
        if (method.batch() != null) {
            requireAll(items(method.batch()));
            pipeline.process(attempts, this).join();
            return method.nothing();
        }
        return processAlone(pipeline);
    }

    private @Nullable Object processAlone(DeliveryPipeline pipeline) throws Throwable {
        CompletableFuture<@Nullable Object> recorded = recorded(pipeline);
        Object answer = method.isAsync() ? recorded : recorded.join();
        return answer == null ? method.nothing() : answer;
    }

    private CompletableFuture<@Nullable Object> recorded(DeliveryPipeline pipeline) throws Throwable {
        try {
            return pipeline.process(attempts, this);
        } catch (Exception failure) {
            if (answered) {
                return CompletableFuture.failedFuture(failure);
            }
            throw failure;
        }
    }

    private void requireAll(List<?> items) {
        if (items.size() != messages.size()) {
            throw new IllegalStateException(
                    "A batch of %d messages was resolved to %d arguments".formatted(messages.size(), items.size()));
        }
    }

    private List<?> items(BatchSignature shape) {
        return (List<?>) Objects.requireNonNull(invocation.getArguments()[shape.list()]);
    }

    @Override
    public CompletionStage<?> handle(List<Attempt> claimed) throws Throwable {
        ProxyMethodInvocation call = again();
        if (method.batch() != null) {
            pass(claimed, method.batch(), call.getArguments());
            proceed(call);
            // What the method returns is ignored: there is no result of one message that could be kept.
            return CompletableFuture.completedFuture(null);
        }
        method.pass(claimed.get(0).claim(), call.getArguments());
        Object returned = method.requireFuture(proceed(call));
        if (method.isAsync() && returned instanceof CompletionStage<?> stage) {
            answered = true;
            return stage;
        }
        return CompletableFuture.completedFuture(returned);
    }

    /**
     * Returns a call with the arguments as they were resolved: a transaction that is rolled back for a failed message calls the
     * method again, for the others. An invocation that has gone on once would pass by the advice that comes after this one.
     */
    private ProxyMethodInvocation again() {
        return (ProxyMethodInvocation) ((ProxyMethodInvocation) invocation).invocableClone();
    }

    /**
     * AspectJ's advice that comes before or after a method asks for the current call, and keeps what it makes of its arguments: they
     * are to be those that are passed.
     */
    private static @Nullable Object proceed(ProxyMethodInvocation call) throws Throwable {
        Object outer = call.getUserAttribute(JOIN_POINT);
        call.setUserAttribute(JOIN_POINT, null);
        try {
            return ExposeInvocationInterceptor.INSTANCE.invoke(call);
        } finally {
            call.setUserAttribute(JOIN_POINT, outer);
        }
    }

    private void pass(List<Attempt> acquired, BatchSignature shape, @Nullable Object[] arguments) {
        List<?> resolved = items(shape);
        // Lists that the method may change, as awspring's are.
        List<Object> items = new ArrayList<>(acquired.size());
        List<Claim> claims = new ArrayList<>(acquired.size());
        List<Message<?>> passed = new ArrayList<>(acquired.size());
        for (Attempt each : acquired) {
            int index = attempts.indexOf(each);
            items.add(resolved.get(index));
            claims.add(each.claim());
            passed.add(messages.get(index));
        }
        arguments[shape.list()] = items;
        if (shape.claims() >= 0) {
            arguments[shape.claims()] = claims;
        }
        if (shape.visibility() >= 0) {
            arguments[shape.visibility()] = RenewingVisibility.ofAll(passed);
        }
    }
}
