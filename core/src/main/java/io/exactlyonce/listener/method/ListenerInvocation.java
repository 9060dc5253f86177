package io.exactlyonce.listener.method;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.Handler;
import io.exactlyonce.delivery.pipeline.TransactionalHandler;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.messaging.Message;

/**
 * One invocation of a listener's method by its container, from the outermost advice to the method. The claims belong to
 * it: advice may call the method several times, or on another thread, and each of these calls runs under the same
 * claims. All other calls of the method, also those that the method makes itself, have none.
 *
 * <p>An invocation passes three steps of {@link ExactlyOnceAdvisor}, whatever the number of proxies:
 *
 * <ol>
 *   <li>{@link #begin}, before all advice: has the pipeline call the rest as its handler. The outcome of the delivery is
 *       thus what leaves the outermost advice.
 *   <li>{@link #claim}, before nearly all advice: begins the transaction if the listener's effects are in the database, a new one
 *       for each call. Of several proxies one begins it ({@link ListenerProxies#beginning}), and the others pass the step on.
 *   <li>{@link #call}, after all advice: the method is called only while its claims are held and nothing has stopped it. Otherwise
 *       the answer is the failure of its latest call, which advice retries.
 * </ol>
 *
 * <p>The thread carries an invocation only into a proxy. From there on, the call that advice is given carries it, also to
 * other threads.
 */
final class ListenerInvocation implements Handler {

    private static final Logger log = LoggerFactory.getLogger(ListenerInvocation.class);

    /** The invocation that is about to enter a proxy on this thread. */
    private static final ThreadLocal<@Nullable ListenerInvocation> ENTERING = new ThreadLocal<>();

    /** The ends of an invocation without work on another thread: its outermost advice has returned, or failed. */
    private static final CompletableFuture<@Nullable Object> RETURNED = CompletableFuture.completedFuture(null);

    private static final CompletableFuture<@Nullable Object> FAILED = CompletableFuture.completedFuture(null);

    /** Spares each invocation an object. */
    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<ListenerInvocation, CompletableFuture> ELSEWHERE =
            AtomicReferenceFieldUpdater.newUpdater(ListenerInvocation.class, CompletableFuture.class, "elsewhere");

    private static final String ATTRIBUTE = ListenerInvocation.class.getName();

    /** The attribute in which AspectJ's advice keeps the arguments that it passes on. */
    private static final String JOIN_POINT = "org.aspectj.lang.JoinPoint";

    private final DeliveryHandlerMethod handler;
    private final List<Message<?>> messages;
    private final Thread thread = Thread.currentThread();
    private @Nullable Object proxy;

    private List<Delivery> deliveries = List.of();
    private @Nullable ProxyMethodInvocation outermost;
    private @Nullable Exception outermostFailure;
    private @Nullable TransactionalHandler transactions;

    private volatile List<Delivery> held = List.of();
    private volatile boolean wasClaimed;
    private volatile @Nullable Thread transactionThread;
    private volatile @Nullable Exception latestFailure;

    /** The latest call on another thread; or the end, when the outermost advice had returned or failed, and nothing ran there. */
    private volatile @Nullable CompletableFuture<@Nullable Object> elsewhere;

    /** @param messages in their order: one, or those of a batch */
    ListenerInvocation(DeliveryHandlerMethod handler, List<Message<?>> messages) {
        this.handler = handler;
        this.messages = messages;
    }

    List<Message<?>> messages() {
        return messages;
    }

    /** Marks the next call of a proxy on this thread, of the same method, as part of this invocation. */
    void enter(Object entered) {
        proxy = entered;
        ENTERING.set(this);
    }

    /** No call on this thread is any invocation's. */
    static void leave() {
        ENTERING.set(null);
    }

    /** Returns the observed method whose arguments are being made on this thread; {@code null} if there is none. */
    static @Nullable ListenerMethod observed() {
        ListenerInvocation entering = ENTERING.get();
        return entering != null && entering.handler.method().isObserved() ? entering.handler.method() : null;
    }

    /** Returns the invocation that a call of a proxy's advice belongs to; {@code null} if it is no container's. */
    static @Nullable ListenerInvocation of(MethodInvocation call) {
        if (!(call instanceof ProxyMethodInvocation proxied)) {
            return null;
        }
        if (proxied.getUserAttribute(ATTRIBUTE) instanceof ListenerInvocation known) {
            return known;
        }
        ListenerInvocation entering = ENTERING.get();
        if (entering == null || entering.proxy != proxied.getProxy() || !entering.isOf(proxied)) {
            return null;
        }
        leave();
        proxied.setUserAttribute(ATTRIBUTE, entering);
        return entering;
    }

    private boolean isOf(MethodInvocation call) {
        return call.getMethod().getName().equals(handler.method().method().getName());
    }

    /** Returns whether its method's advice has been reached: before, its arguments are made. */
    boolean hasBegun() {
        return outermost != null;
    }

    /** Passes the step before all advice. */
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
        // Otherwise the method still runs on another thread, although its advice has returned.
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

    /** Calls all advice, and the method, for the deliveries whose keys are held. */
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
        } catch (Exception failure) {
            CompletableFuture<?> work = end(FAILED);
            if (work == null) {
                throw failure;
            }
            outermostFailure = failure;
            return work;
        }
        if (returned instanceof CompletionStage) {
            return returned;
        }
        requireClaimed();
        CompletableFuture<?> work = end(RETURNED);
        return work == null ? requireFuture(returned) : work;
    }

    private void hold(List<Delivery> admitted) {
        held = admitted;
        admitted.get(0).call().awaitWork();
    }

    /**
     * Ends the invocation, unless advice has not waited for the method, which it had called on another thread. From then on no call
     * is awaited.
     *
     * @return what runs there; {@code null} if nothing does
     */
    private @Nullable CompletableFuture<?> end(CompletableFuture<@Nullable Object> how) {
        CompletableFuture<@Nullable Object> latest = elsewhere;
        while (latest == null || latest.isDone()) {
            if (ELSEWHERE.compareAndSet(this, latest, how)) {
                return null;
            }
            latest = elsewhere;
        }
        return latest;
    }

    private boolean hasEnded() {
        CompletableFuture<?> latest = elsewhere;
        return latest == RETURNED || latest == FAILED;
    }

    /** An effect that advice has postponed would be lost if its message were deleted now. */
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

    /** Passes the step of the claim, once for each proxy of the bean that has it. */
    @Nullable Object claim(MethodInvocation call) throws Throwable {
        if (!hasBegun()) {
            throw new IllegalStateException("%s has no step before its advice".formatted(handler.method()));
        }
        TransactionalHandler each = transactions;
        ProxyMethodInvocation proxied = (ProxyMethodInvocation) call;
        if (each != null && !handler.beginsIn(proxied.getProxy())) {
            return call.proceed();
        }
        wasClaimed = true;
        return each == null ? call.proceed() : each.handle(admitted -> callInTransaction(proxied, admitted));
    }

    /**
     * Calls the rest of the advice, and the method. A call can proceed only once, so a clone does, with arguments for the deliveries
     * whose keys are held now; advice that asks for the current call is given the clone.
     */
    private @Nullable Object callInTransaction(ProxyMethodInvocation call, List<Delivery> admitted) throws Throwable {
        hold(admitted);
        transactionThread = Thread.currentThread();
        try {
            call.setUserAttribute(JOIN_POINT, null);
            return ExposeInvocationInterceptor.INSTANCE.invoke(
                    call.invocableClone(handler.arguments().of(call.getArguments(), messages, admitted)));
        } finally {
            transactionThread = null;
        }
    }

    /** Passes the step after all advice of a proxy: calls the method, or the next proxy of its bean. */
    @Nullable Object call(MethodInvocation call) throws Throwable {
        Object target = Objects.requireNonNull(call.getThis());
        if (!AopUtils.isAopProxy(target)) {
            return work(call);
        }
        enter(target);
        try {
            return handler.isEnclosed(target) ? call.proceed() : work(call);
        } finally {
            leave();
        }
    }

    private @Nullable Object work(MethodInvocation call) throws Throwable {
        if (isPostponed()) {
            log.warn(
                    "{} is called after its key was completed, on thread '{}', because advice around it does not wait for it: an effect "
                            + "that fails now is lost. Let the advice wait for the method",
                    handler.method(),
                    Thread.currentThread().getName());
            return call.proceed();
        }
        requireTransaction();
        if (Thread.currentThread() == thread || transactions != null) {
            requireHeld();
            return tryOnce(call);
        }
        CompletableFuture<@Nullable Object> work = new CompletableFuture<>();
        if (!beginElsewhere(work)) {
            // The outermost advice has returned meanwhile.
            return isPostponed() ? work(call) : throwRefusal();
        }
        try {
            requireHeld();
            Object returned = tryOnce(call);
            end(work, returned, null);
            return returned;
        } catch (Exception failure) {
            end(work, null, failure);
            throw failure;
        } finally {
            work.completeExceptionally(new IllegalStateException("The handler ended with an error"));
        }
    }

    private boolean beginElsewhere(CompletableFuture<@Nullable Object> work) {
        CompletableFuture<@Nullable Object> latest;
        do {
            latest = elsewhere;
            if (hasEnded()) {
                return false;
            }
            if (latest != null && !latest.isDone()) {
                throw new IllegalStateException(
                        ("%s is called on thread '%s' while an earlier call of it still runs on another one, so its effect would "
                                        + "happen twice; let the advice around it wait for a call before it makes the next one")
                                .formatted(
                                        handler.method(), Thread.currentThread().getName()));
            }
        } while (!ELSEWHERE.compareAndSet(this, latest, work));
        return true;
    }

    private void requireHeld() throws Exception {
        if (hasEnded() || !areHeld() || !held.get(0).call().beginWork()) {
            throw refusal();
        }
    }

    private Object throwRefusal() throws Exception {
        throw refusal();
    }

    private @Nullable Object tryOnce(MethodInvocation call) throws Throwable {
        try {
            Object returned = call.proceed();
            latestFailure = null;
            return returned;
        } catch (Exception failure) {
            latestFailure = failure;
            throw failure;
        } finally {
            held.get(0).call().endWork();
        }
    }

    private static void end(
            CompletableFuture<@Nullable Object> work, @Nullable Object returned, @Nullable Throwable failure) {
        if (failure != null) {
            work.completeExceptionally(failure);
        } else if (returned instanceof CompletionStage<?> stage) {
            stage.whenComplete((result, failed) -> end(work, result, failed));
        } else {
            work.complete(returned);
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

    /** Returns whether the keys are completed, or about to be, although the method was not called. */
    private boolean isPostponed() {
        return transactions == null
                && elsewhere == RETURNED
                && (held.get(0).isCompleted() || areHeld())
                && !held.get(0).call().hasWorked();
    }

    /** A retry is answered with the failure that it retries. */
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
        // Advice may catch it.
        held.get(0).call().refuse(lost);
        return lost;
    }

    private void requireTransaction() {
        if (transactions != null && transactionThread != Thread.currentThread()) {
            throw new IllegalStateException(
                    ("%s has effects = DATABASE, and advice around it calls it on thread '%s', outside of the transaction of "
                                    + "its claim; give the advice an order below %d, and if it calls proceed() twice, let it call "
                                    + "invocableClone().proceed() instead")
                            .formatted(handler.method(), Thread.currentThread().getName(), ExactlyOnceAdvisor.ORDER));
        }
    }
}
