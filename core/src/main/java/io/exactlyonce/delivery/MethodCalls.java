package io.exactlyonce.delivery;

import io.exactlyonce.boundary.Causes;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls of a handler's method for one delivery or one batch. Advice may call the method several times, and on threads
 * of its own. One call runs at a time:
 *
 * <ul>
 *   <li>A call on the container's thread runs until the method has returned, and until its future has completed.
 *   <li>A call on another thread runs until that thread has left all advice, because advice such as a transaction may
 *       fail after the method. Advice on that thread may repeat the method meanwhile. Another thread may do so after the
 *       method has failed.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class MethodCalls {

    /** Value of {@link #latest} if no call may begin any more, because all advice has returned. */
    private static final CompletableFuture<@Nullable Object> RETURNED = CompletableFuture.completedFuture(null);

    /** Value of {@link #latest} if no call may begin any more, for any other reason. */
    private static final CompletableFuture<@Nullable Object> ENDED = CompletableFuture.completedFuture(null);

    /** Value of {@link #latest} while the method runs on the container's thread. Never completes. */
    private static final CompletableFuture<@Nullable Object> HERE = new CompletableFuture<>();

    /** Set while a thread that is not the container's is inside advice. */
    private static final ThreadLocal<@Nullable OtherThread> OTHER = new ThreadLocal<>();

    /** Changes {@link #latest} atomically. An {@code AtomicReference} would be another object for each message. */
    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<MethodCalls, CompletableFuture> LATEST =
            AtomicReferenceFieldUpdater.newUpdater(MethodCalls.class, CompletableFuture.class, "latest");

    private final Object method;

    /**
     * The container's thread; {@code null} after that thread has left all advice, because advice may use it later like any
     * other. Only that thread changes this field, and whether others see the change makes no difference.
     */
    private @Nullable Thread thread = Thread.currentThread();

    /**
     * The latest call, which is done when the call has ended: {@link #HERE}, an {@link OtherThread}, or the future that
     * the method has returned. {@code null} before the first call, and after a call without a future.
     */
    private volatile @Nullable CompletableFuture<?> latest;

    /** @param method its {@code toString()} names the method in exceptions */
    public MethodCalls(Object method) {
        this.method = method;
    }

    /** Advice, and the method behind it. */
    @FunctionalInterface
    public interface Advice {

        @Nullable Object proceed() throws Throwable;
    }

    /**
     * A thread of advice, from the first advice that the thread enters until it has left all. If the container waits for
     * the thread, this future completes then.
     */
    private static final class OtherThread extends CompletableFuture<@Nullable Object> {

        private final MethodCalls calls;
        private boolean hasBegun;
        private boolean isInMethod;
        private boolean hasFailed;
        private boolean hasLeft;

        /** The future of the method, or another thread that repeats the method after it has failed. */
        private @Nullable CompletableFuture<?> work;

        /** The thread that was the first to call the method, if this one repeats it. */
        private @Nullable OtherThread repeated;

        OtherThread(MethodCalls calls) {
            this.calls = calls;
        }

        synchronized @Nullable CompletableFuture<?> running() {
            return isRunning(work) ? work : null;
        }

        synchronized void enterMethod() {
            if (isInMethod || isRunning(work)) {
                throw calls.stillRuns();
            }
            hasBegun = true;
            isInMethod = true;
        }

        synchronized void leaveMethod(@Nullable CompletableFuture<?> future, boolean isFailure) {
            isInMethod = false;
            hasFailed = isFailure;
            work = future;
        }

        private synchronized boolean isFailure() {
            return hasFailed || (work != null && work.isCompletedExceptionally());
        }

        /** Lets another thread repeat the method, if the method has failed and this thread is still inside advice. */
        synchronized boolean letRepeat(OtherThread next) {
            if (hasLeft || isInMethod || isRunning(work) || !isFailure()) {
                return false;
            }
            work = next;
            next.repeated = this;
            return true;
        }

        /**
         * Takes over whether another thread's repetition has failed, because that thread has left. After a success, this
         * thread's advice may still commit.
         */
        private synchronized void hasRepeated(OtherThread next) {
            if (work == next) {
                hasFailed = next.isFailure();
                work = next.running();
            }
            OtherThread first = repeated;
            if (hasLeft && first != null) {
                first.hasRepeated(next);
            }
        }

        /** Returns whether others may call the method now. Otherwise, the container waits for this thread. */
        synchronized boolean leave() {
            hasLeft = true;
            OtherThread first = repeated;
            if (first != null) {
                first.hasRepeated(this);
            }
            return LATEST.compareAndSet(calls, this, running());
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            boolean isCancelled = super.cancel(mayInterrupt);
            CompletableFuture<?> running = running();
            if (isCancelled && running != null) {
                running.cancel(mayInterrupt);
            }
            return isCancelled;
        }
    }

    /** Returns whether the current thread is about to enter advice for the container on another thread. */
    public boolean isElsewhere() {
        return !isContainers() && other() == null;
    }

    private boolean isContainers() {
        return Thread.currentThread() == thread;
    }

    private @Nullable OtherThread other() {
        OtherThread other = isContainers() ? null : OTHER.get();
        return other != null && other.calls == this ? other : null;
    }

    /** Calls advice on another thread than the container's. */
    public @Nullable Object elsewhere(Advice advice) throws Throwable {
        OtherThread before = OTHER.get();
        OtherThread other = new OtherThread(this);
        OTHER.set(other);
        try {
            Object returned = advice.proceed();
            leave(other, future(returned), returned, null);
            return returned;
        } catch (Throwable failure) {
            leave(other, null, null, failure);
            throw failure;
        } finally {
            OTHER.set(before);
        }
    }

    /**
     * Ends the call of another thread. If {@link #end} has returned that call, the container waits for it: until the
     * future that the advice has returned and the method's own are done.
     */
    private static void leave(
            OtherThread other,
            @Nullable CompletableFuture<?> answer,
            @Nullable Object returned,
            @Nullable Throwable failure) {
        if (other.leave()) {
            return;
        }
        CompletableFuture<?> work = other.running();
        if (answer != null) {
            whenDone(answer, (result, failed) -> leave(other, null, result, failed));
        } else if (work != null) {
            whenDone(work, (result, failed) -> transfer(other, result, failed));
        } else {
            transfer(other, returned, failure);
        }
    }

    /** Runs none of the application's code, unlike the future's own {@code whenComplete}. */
    @SuppressWarnings("FutureReturnValueIgnored") // Callers await the future that the action completes.
    private static void whenDone(
            CompletableFuture<?> future, BiConsumer<@Nullable Object, @Nullable Throwable> action) {
        CompletableFuture.allOf(future)
                .whenComplete((none, failure) -> action.accept(
                        failure == null ? future.join() : null, failure == null ? null : Causes.unwrap(failure)));
    }

    private static void transfer(
            CompletableFuture<@Nullable Object> to, @Nullable Object result, @Nullable Throwable failure) {
        if (failure == null) {
            to.complete(result);
        } else {
            to.completeExceptionally(failure);
        }
    }

    /**
     * Begins a call of the method, on the current thread.
     *
     * @return whether the call may be made; false after {@link #end}
     * @throws IllegalStateException if an earlier call still runs
     */
    public boolean begin() {
        OtherThread other = other();
        boolean isRepeated = other != null && other.hasBegun;
        if (!isRepeated && !beginCall(other == null ? HERE : other)) {
            return false;
        }
        if (other != null) {
            other.enterMethod();
        }
        return true;
    }

    private boolean beginCall(CompletableFuture<@Nullable Object> call) {
        CompletableFuture<?> before;
        do {
            before = latest;
            if (before == RETURNED || before == ENDED) {
                return false;
            }
            if (isRunning(before)) {
                if (call instanceof OtherThread next && letRepeat(before, next)) {
                    return true;
                }
                if (before == latest) {
                    throw stillRuns();
                }
            }
        } while (!LATEST.compareAndSet(this, before, call));
        return true;
    }

    /**
     * Lets a thread repeat a failed call of the method. The failed call is that of the running thread, or that of a thread
     * which repeats the running one's.
     *
     * @return false if none of these calls has failed
     */
    private static boolean letRepeat(@Nullable CompletableFuture<?> running, OtherThread next) {
        for (CompletableFuture<?> at = running; at instanceof OtherThread other; at = other.running()) {
            if (other.letRepeat(next)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isRunning(@Nullable CompletableFuture<?> call) {
        return call != null && !call.isDone();
    }

    private IllegalStateException stillRuns() {
        return new IllegalStateException(
                ("%s is called on thread '%s' while an earlier call of it still runs, so its effect would happen twice; let the "
                                + "advice around it wait for a call before it makes the next one")
                        .formatted(method, Thread.currentThread().getName()));
    }

    /**
     * The method that {@link #begin} announced has ended.
     *
     * @param future the future that the method has returned, if any
     * @param hasFailed whether the method has thrown an exception
     */
    public void leaveMethod(@Nullable CompletableFuture<?> future, boolean hasFailed) {
        OtherThread other = other();
        if (other == null) {
            latest = future;
        } else {
            other.leaveMethod(future, hasFailed);
        }
    }

    /**
     * Returns a future for advice that completes like the method's. If advice ends it, for example with {@code
     * orTimeout}, the method's own does not end. Only its cancellation is passed on.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // Advice gets the future that the action completes.
    public static CompletableFuture<?> mirror(CompletableFuture<?> work) {
        CompletableFuture<@Nullable Object> mirror = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterrupt) {
                return isDone() ? isCancelled() : work.cancel(mayInterrupt);
            }

            @Override
            public Executor defaultExecutor() {
                return work.defaultExecutor();
            }

            @Override
            public <U> CompletableFuture<U> newIncompleteFuture() {
                return work.newIncompleteFuture();
            }
        };
        work.whenComplete((result, failure) -> transfer(mirror, result, failure));
        return mirror;
    }

    /**
     * Lets no further call begin. The thread of a running call may still repeat it.
     *
     * @param hasReturned whether all advice has returned, and not failed
     * @return the running call; {@code null} if there is none
     */
    public @Nullable CompletableFuture<?> end(boolean hasReturned) {
        if (isContainers()) {
            thread = null;
        }
        CompletableFuture<?> running;
        CompletableFuture<?> before;
        do {
            before = latest;
            running = isRunning(before) ? before : null;
        } while (!LATEST.compareAndSet(this, before, hasReturned && running == null ? RETURNED : ENDED));
        return running;
    }

    /** Returns whether all advice has returned. */
    public boolean hasReturned() {
        return latest == RETURNED;
    }

    /**
     * Returns the future behind an answer.
     *
     * @return {@code null} if the answer is none, or cannot become a {@code CompletableFuture}
     */
    public static @Nullable CompletableFuture<?> future(@Nullable Object answer) {
        try {
            return answer instanceof CompletionStage<?> stage ? stage.toCompletableFuture() : null;
        } catch (RuntimeException none) {
            return null;
        }
    }

    /**
     * Ends the calls when the future that advice has returned completes. Advice may end its future earlier than the
     * method's, for example with {@code orTimeout}.
     *
     * @param check throws an exception if the advice may not answer yet
     * @return completes like the answer; if a call still runs then, like that call. Cancelling this future cancels the
     *     answer, or that call
     */
    public CompletableFuture<?> endWith(CompletableFuture<?> answer, Runnable check) {
        thread = null;
        Ending ending = new Ending(answer);
        whenDone(answer, (result, failure) -> end(ending, result, failure == null ? failureOf(check) : failure));
        return ending;
    }

    private static @Nullable Throwable failureOf(Runnable check) {
        try {
            check.run();
            return null;
        } catch (RuntimeException failure) {
            return failure;
        }
    }

    private void end(Ending ending, @Nullable Object result, @Nullable Throwable failure) {
        CompletableFuture<?> work = end(failure == null);
        if (work == null) {
            transfer(ending, result, failure);
        } else {
            ending.await(work);
        }
    }

    /** Completes when the answer is done, and then the call that runs. */
    private static final class Ending extends CompletableFuture<@Nullable Object> {

        private CompletableFuture<?> awaited;
        private boolean isCancelled;

        Ending(CompletableFuture<?> answer) {
            awaited = answer;
        }

        void await(CompletableFuture<?> work) {
            boolean wasCancelled;
            synchronized (this) {
                awaited = work;
                wasCancelled = isCancelled;
            }
            whenDone(work, (result, failure) -> transfer(this, result, failure));
            if (wasCancelled) {
                work.cancel(true);
            }
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            CompletableFuture<?> running;
            synchronized (this) {
                isCancelled = true;
                running = awaited;
            }
            return running.cancel(mayInterrupt);
        }
    }
}
