package io.exactlyonce.listener.method;

import io.exactlyonce.BatchResult;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.MethodCalls;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.Handler;
import io.exactlyonce.delivery.pipeline.TransactionalHandler;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor.ListenerCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.messaging.Message;

/**
 * Handles one message, or one batch, by calling the listener's method through its advice. Advice may call the method
 * several times (for example to retry), or on another thread. All these calls use the claims of this invocation. If
 * application code calls the method itself, its call has no claims.
 *
 * <p>{@link ExactlyOnceAdvisor} adds three steps to the advice:
 * <ol>
 * <li>{@link #begin} runs before all advice. Without {@code effects = DATABASE}, the pipeline takes over here. The
 * pipeline calls {@link #handle} for the messages whose keys are held, and then records the outcome. So if advice
 * fails, this counts as a failure of the handler.
 * <li>{@link #claim} runs before nearly all advice. With {@code effects = DATABASE}, this step begins the transaction
 * in which the keys are claimed. If advice retries, each attempt gets a new transaction. If the bean has several
 * proxies, the transaction begins in only one of them ({@link ListenerProxies#beginning}).
 * <li>{@link #call} runs after all advice, each time that advice proceeds. This step calls the method if the keys are
 * still held. Otherwise this step throws an exception.
 * </ol>
 *
 * <p>With {@code effects = DATABASE}, {@link TransactionCalls} rolls the transaction back if the method is called more
 * than once in it, or has failed, whatever advice within the transaction answers.
 *
 * <p>The steps must find this object. A thread local carries it to the proxy's first step. Later steps may run on
 * another thread, so the call object carries it to them.
 */
final class ListenerInvocation implements Handler {

    private static final Logger log = LoggerFactory.getLogger(ListenerInvocation.class);

    /**
     * The invocation that this thread begins: set when the container calls the bean, and removed by the bean's proxy.
     */
    private static final ThreadLocal<@Nullable ListenerInvocation> ENTERING = new ThreadLocal<>();

    private static final String ATTRIBUTE = ListenerInvocation.class.getName();

    /** The name under which AspectJ stores the method's arguments in Spring's call object. */
    private static final String JOIN_POINT = "org.aspectj.lang.JoinPoint";

    private final DeliveryHandlerMethod handler;
    private final List<Message<?>> messages;
    private final MethodCalls calls;
    private @Nullable Object proxy;

    private List<Delivery> deliveries = List.of();
    private @Nullable ProxyMethodInvocation outermost;
    private @Nullable Throwable outermostFailure;
    private @Nullable TransactionalHandler transactions;

    private volatile List<Delivery> held = List.of();
    private volatile boolean wasClaimed;
    private volatile @Nullable TransactionCalls inTransaction;
    private volatile @Nullable Exception latestFailure;

    /** @param messages the message, or all messages of a batch */
    ListenerInvocation(DeliveryHandlerMethod handler, List<Message<?>> messages) {
        this.handler = handler;
        this.messages = messages;
        this.calls = new MethodCalls(handler.method());
    }

    MethodCalls calls() {
        return calls;
    }

    List<Message<?>> messages() {
        return messages;
    }

    /**
     * Marks this thread, so that its next call of the proxy's method belongs to this invocation.
     *
     * @param entered the proxy
     */
    void enter(Object entered) {
        proxy = entered;
        ENTERING.set(this);
    }

    /** Undoes {@link #enter}: later calls on this thread do not belong to the invocation. */
    static void leave() {
        ENTERING.set(null);
    }

    /**
     * Returns the method that this thread is about to call, if the method is in observe mode; {@code null} otherwise.
     * Used while Spring makes the method's arguments.
     */
    static @Nullable ListenerMethod observed() {
        ListenerInvocation entering = ENTERING.get();
        return entering != null && entering.handler.method().isObserved() ? entering.handler.method() : null;
    }

    /**
     * Returns the invocation to which a call belongs. Returns {@code null} if the call came from application code
     * instead of a container.
     */
    static @Nullable ListenerInvocation of(MethodInvocation call) {
        if (call instanceof ListenerCall known) {
            return known.invocation();
        }
        if (!(call instanceof ProxyMethodInvocation proxied)) {
            return null;
        }
        if (proxied.getUserAttribute(ATTRIBUTE) instanceof ListenerInvocation known) {
            return known;
        }
        ListenerInvocation entering = ENTERING.get();
        if (entering == null || entering.proxy != proxied.getProxy() || !entering.isOf(call)) {
            return null;
        }
        leave();
        // Advice that was added before the first step later may call a clone, which comes to the first step again.
        proxied.setUserAttribute(ATTRIBUTE, entering);
        return entering;
    }

    private boolean isOf(MethodInvocation call) {
        return call.getMethod().getName().equals(handler.method().method().getName());
    }

    /** Returns whether the first step has begun. Until then, Spring is still making the method's arguments. */
    boolean hasReachedAdvice() {
        return outermost != null;
    }

    /** Runs the first step, before all advice. */
    @Nullable Object begin(MethodInvocation call, DeliveryPipeline pipeline) throws Throwable {
        outermost = (ProxyMethodInvocation) call;
        deliveries = handedOn();
        if (handler.method().transaction() != null) {
            return beginTransactions(call, pipeline);
        }
        Object answer = pipeline.handle(deliveries, this);
        if (outermostFailure != null) {
            throw outermostFailure;
        }
        // If another thread still runs the method, the pipeline returns a future, even if the method's return type is
        // no future. The container expects no future from such a method, so it gets null.
        return handler.method().isAsync() || !(answer instanceof CompletionStage) ? answer : null;
    }

    private List<Delivery> handedOn() {
        List<Delivery> all = new ArrayList<>(messages.size());
        for (Message<?> message : messages) {
            all.add(ReceivedMessage.handedOn(message));
        }
        return all;
    }

    private @Nullable Object beginTransactions(MethodInvocation call, DeliveryPipeline pipeline) throws Throwable {
        try (TransactionalHandler each = pipeline.transactions(deliveries)) {
            transactions = each;
            Object returned = call.proceed();
            requireClaimed();
            return returned;
        }
    }

    /** Calls the advice and the method, with the messages whose keys are held. */
    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // The pipeline awaits it.
    public @Nullable Object handle(List<Delivery> admitted) throws Throwable {
        ProxyMethodInvocation call = Objects.requireNonNull(outermost);
        hold(admitted);
        if (admitted.size() < messages.size()) {
            call.setArguments(handler.arguments().of(call.getArguments(), messages, admitted));
        }
        Object returned;
        try {
            returned = call.proceed();
        } catch (Throwable failure) {
            CompletableFuture<?> work = calls.end(false);
            if (work == null) {
                throw failure;
            }
            outermostFailure = failure;
            return work;
        }
        if (returned instanceof CompletionStage) {
            CompletableFuture<?> answer = MethodCalls.future(returned);
            return answer == null ? returned : calls.endWith(answer, this::requireClaimed);
        }
        requireClaimed();
        CompletableFuture<?> work = calls.end(true);
        return work == null ? requireFuture(returned) : work;
    }

    private void hold(List<Delivery> admitted) {
        held = admitted;
        admitted.get(0).call().awaitWork();
    }

    /**
     * Rejects advice that has returned without calling the method. Such advice may call the method later, so the
     * message must not be deleted now.
     */
    private void requireClaimed() {
        if (!wasClaimed) {
            throw new IllegalStateException(
                    ("Advice around %s returned without calling it, so its message is not handled; let the advice call the "
                                    + "method before it returns, or give it an order above %d")
                            .formatted(handler.method(), ExactlyOnceAdvisor.ORDER));
        }
    }

    private @Nullable Object requireFuture(@Nullable Object returned) {
        if (returned == null && handler.method().isAsync()) {
            throw new IllegalStateException(
                    "%s returned null instead of a future, so the end of its work is unknown; return "
                                    .formatted(handler.method())
                            + "CompletableFuture.completedFuture(null) if there is nothing to wait for");
        }
        return returned;
    }

    /**
     * Runs the second step, which comes before nearly all advice. With {@code effects = DATABASE}, it claims the keys
     * in a transaction, and calls the remaining advice and the method in it. If the bean has several proxies, only one
     * of them does this.
     */
    @Nullable Object claim(MethodInvocation call) throws Throwable {
        if (!(call instanceof ListenerCall proxied)) {
            throw new IllegalStateException("%s has no step before its advice".formatted(handler.method()));
        }
        TransactionalHandler each = transactions;
        if (each != null && !handler.beginsIn(proxied.getProxy())) {
            return call.proceed();
        }
        wasClaimed = true;
        return each == null ? call.proceed() : each.handle(admitted -> callInTransaction(proxied, admitted));
    }

    /**
     * Calls the remaining advice and the method in the claim's transaction. The transaction may be repeated, but
     * Spring's call object works only once. So each attempt uses a clone. {@link ExposeInvocationInterceptor} passes
     * the clone to advice that asks for the current call.
     */
    private @Nullable Object callInTransaction(ListenerCall call, List<Delivery> admitted) throws Throwable {
        hold(admitted);
        // A failure of an earlier transaction is undone, and is no answer to a call that this one refuses.
        latestFailure = null;
        TransactionCalls calls = new TransactionCalls();
        inTransaction = calls;
        try {
            call.setUserAttribute(JOIN_POINT, null);
            return calls.through(call.invocableClone(handler.arguments().of(call.getArguments(), messages, admitted)));
        } finally {
            inTransaction = null;
        }
    }

    /** Runs the third step, after all advice of a proxy. Calls the method, or the bean's next proxy. */
    @Nullable Object call(MethodInvocation call) throws Throwable {
        Object target = Objects.requireNonNull(call.getThis());
        if (!AopUtils.isAopProxy(target)) {
            return work(call);
        }
        enter(target);
        try {
            return invoke(call);
        } finally {
            leave();
        }
    }

    /** Calls the proxy's target: the bean, or the bean's next proxy. */
    private static @Nullable Object invoke(MethodInvocation call) throws Throwable {
        return AopUtils.invokeJoinpointUsingReflection(call.getThis(), call.getMethod(), call.getArguments());
    }

    private @Nullable Object work(MethodInvocation call) throws Throwable {
        if (isPostponed()) {
            log.warn(
                    "{} is called after its key was completed, on thread '{}', because advice around it does not wait for it: an effect "
                            + "that fails now is lost. Let the advice wait for the method",
                    handler.method(),
                    Thread.currentThread().getName());
            return invoke(call);
        }
        if (transactions != null) {
            return requireTransaction().call(call);
        }
        if (!calls.begin()) {
            // The invocation has ended since this method began.
            return isPostponed() ? work(call) : throwRefusal();
        }
        CompletableFuture<?> future = null;
        boolean hasFailed = true;
        try {
            requireHeld();
            Object returned = tryOnce(call);
            hasFailed = false;
            future = MethodCalls.future(returned);
            return forAdvice(returned, future, call);
        } finally {
            calls.leaveMethod(future, hasFailed);
        }
    }

    /**
     * Returns what advice gets in place of the method's answer. If that is a future, advice must not end it: its end is
     * that of the handler's work.
     */
    private static @Nullable Object forAdvice(
            @Nullable Object returned, @Nullable CompletableFuture<?> future, MethodInvocation call) {
        return future != null
                        && !future.isDone()
                        && call.getMethod().getReturnType().isAssignableFrom(CompletableFuture.class)
                ? MethodCalls.mirror(future)
                : returned;
    }

    private void requireHeld() throws Exception {
        if (!areHeld() || !held.get(0).call().beginWork()) {
            throw refusal();
        }
    }

    private Object throwRefusal() throws Exception {
        throw refusal();
    }

    private @Nullable Object tryOnce(MethodInvocation call) throws Throwable {
        try {
            Object returned = invoke(call);
            latestFailure = null;
            return returned;
        } catch (Exception failure) {
            latestFailure = failure;
            throw failure;
        } finally {
            held.get(0).call().endWork();
        }
    }

    private boolean areHeld() {
        for (Delivery delivery : held) {
            if (!delivery.attempt().mayWork()) {
                return false;
            }
        }
        return !held.isEmpty();
    }

    /**
     * Returns whether all advice has returned already, and the method is called only now. The pipeline then treats the
     * message as handled: its key is completed, or soon will be.
     */
    private boolean isPostponed() {
        return transactions == null
                && calls.hasReturned()
                && (held.get(0).isCompleted() || areHeld())
                && !held.get(0).call().hasWorked();
    }

    /**
     * Returns the exception for a call of the handler that is not permitted any more. If advice retries the handler,
     * returns the failure of the earlier call.
     */
    private Exception refusal() {
        Exception retried = latestFailure;
        if (retried != null) {
            return retried;
        }
        if (held.isEmpty()) {
            return new IllegalStateException("%s was called after its delivery had ended".formatted(handler.method()));
        }
        Exception lost = held.get(0)
                .attempt()
                .claim()
                .lost("its lease or timeout had expired, or its listener had stopped, before the handler was called");
        // Advice may catch the returned exception and hide it. So the exception is also reported to the pipeline
        // directly.
        held.get(0).call().refuse(lost);
        return lost;
    }

    private TransactionCalls requireTransaction() {
        TransactionCalls calls = inTransaction;
        if (calls != null && calls.thread == Thread.currentThread()) {
            return calls;
        }
        IllegalStateException outside = new IllegalStateException(
                ("%s has effects = DATABASE, and advice around it calls it on thread '%s', outside of the transaction of "
                                + "its claim; give the advice an order below %d, and if it calls proceed() twice, let it call "
                                + "invocableClone().proceed() instead")
                        .formatted(handler.method(), Thread.currentThread().getName(), ExactlyOnceAdvisor.ORDER));
        // If advice catches the exception or does not wait for its thread, this rolls the transaction back. If the
        // transaction has ended already, only the line below tells of the missing effect.
        if (calls != null) {
            calls.outside = outside;
        }
        if (!held.isEmpty()) {
            held.get(0).call().refuse(outside);
        }
        log.warn(
                "{} is called on thread '{}', outside of the transaction of its claim, and does not run: an effect is missing if the "
                        + "advice around it has answered instead. Let the advice call it on the thread that called the advice",
                handler.method(),
                Thread.currentThread().getName());
        throw outside;
    }

    /**
     * The calls of the method in one transaction. The method runs at most once in it. The transaction is rolled back if
     * advice within the transaction calls the method again, or catches its failure and answers instead. Otherwise the
     * commit could contain the effect twice, or half of it.
     */
    private final class TransactionCalls {

        private final Thread thread = Thread.currentThread();
        private boolean hasBegun;
        private @Nullable BatchResult failedResult;
        private @Nullable Throwable failure;

        /** The exception of a second call; {@code null} if there was none. */
        private @Nullable IllegalStateException repeated;

        /** The exception of a call on another thread; {@code null} if there was none. */
        private volatile @Nullable IllegalStateException outside;

        /** Calls the advice within the transaction. Returns its answer, if that hides no failure and no second call. */
        @Nullable Object through(MethodInvocation advice) throws Throwable {
            Object answer;
            try {
                answer = ExposeInvocationInterceptor.INSTANCE.invoke(advice);
            } catch (Throwable thrown) {
                requireOneCall(thrown);
                throw thrown;
            }
            requireOneCall(null);
            if ((failure == null && failedResult == null) || hasFailures(answer)) {
                return answer;
            }
            log.warn(
                    "{} has failed in the transaction of its claim, and advice around it answers instead: the transaction is rolled "
                            + "back nevertheless, because the method may have written something before it failed",
                    handler.method());
            if (failure != null) {
                throw failure;
            }
            return failedResult;
        }

        @Nullable Object call(MethodInvocation call) throws Throwable {
            if (hasBegun) {
                repeated = repeated();
                throw repeated;
            }
            requireHeld();
            hasBegun = true;
            try {
                Object returned = tryOnce(call);
                if (hasFailures(returned)) {
                    failedResult = (BatchResult) returned;
                }
                return returned;
            } catch (Throwable failed) {
                failure = failed;
                throw failed;
            }
        }

        /**
         * Throws an exception if the method was called and also called again, or on another thread.
         *
         * @param thrown what the advice has thrown; {@code null} if it has answered
         */
        private void requireOneCall(@Nullable Throwable thrown) throws Throwable {
            IllegalStateException elsewhere = outside;
            IllegalStateException refused = elsewhere == null ? repeated : elsewhere;
            if (!hasBegun || refused == null) {
                return;
            }
            Throwable own = failure;
            if (own != null && elsewhere == null && !handler.method().isBatch()) {
                // The message is at fault, as if the advice had passed the failure on at once.
                log.warn(
                        "{} has failed in the transaction of its claim, and advice within it calls it again in vain, because the "
                                + "transaction is rolled back. Give the advice an order below {}, so that each call has a transaction of its own",
                        handler.method(),
                        ExactlyOnceAdvisor.ORDER);
                throw own;
            }
            // The advice is at fault, so no message is. In a batch, the failure may be that of another message.
            suppress(refused, thrown == null ? own : thrown);
            if (failedResult != null) {
                failedResult.failures().values().forEach(failed -> suppress(refused, failed));
            }
            held.get(0).call().refuse(refused);
            throw refused;
        }

        /** Adds a failure to an exception, unless the failure is, or wraps, that exception. */
        private static void suppress(IllegalStateException refused, @Nullable Throwable other) {
            if (other != null && Causes.of(other).noneMatch(cause -> cause == refused)) {
                refused.addSuppressed(other);
            }
        }

        private IllegalStateException repeated() {
            return new IllegalStateException(
                    ("%s was called more than once in the transaction of its claim, so the commit could have its effect twice; "
                                    + "give the advice that repeats it an order below %d, so that each call has a transaction "
                                    + "of its own, or split messages in the method")
                            .formatted(handler.method(), ExactlyOnceAdvisor.ORDER));
        }

        private static boolean hasFailures(@Nullable Object returned) {
            return returned instanceof BatchResult result && !result.failures().isEmpty();
        }
    }
}
