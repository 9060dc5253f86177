package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one delivery ours: its window from the receive until {@link #stop()}, and its claim's lease from {@link #hold}
 * until {@link #letGo()}.
 *
 * <p>Losing the window is survivable, since the claim still protects the key. Losing the lease is told once, at the
 * latest when it ends by this JVM's monotonic clock and its renewal is failing or unanswered.
 *
 * <p>Not guaranteed: that the lease is still held when the caller acts on {@link #isHeld()}; a pause may lie between.
 */
public final class Renewal {

    private static final Logger log = LoggerFactory.getLogger(Renewal.class);

    private final RenewalSupervisor supervisor;
    private final RenewedWindow window;
    private volatile @Nullable RenewedLease lease;
    private @Nullable Runnable limited;
    private Duration limit = Duration.ZERO;
    private long limitEnd;

    Renewal(RenewalSupervisor supervisor, RenewedWindow window) {
        this.supervisor = supervisor;
        this.window = window;
    }

    /**
     * Renews a claim's lease, too, from now on.
     *
     * @param length the lease's length
     * @param askedAt when the claim was asked for, by the monotonic clock
     * @param handler is stopped if the lease is lost; must not block
     */
    public void hold(ClaimId claim, Duration length, long askedAt, Runnable handler) {
        lease = supervisor.renew(window, claim, length, askedAt, handler);
    }

    /**
     * The handler begins. If it is still running at its timeout, it is told to stop, and nothing is renewed any more: one
     * that goes on keeps its claim until the lease ends.
     *
     * @param handler is stopped at the timeout; must not block
     */
    public synchronized void limit(Duration timeout, Runnable handler) {
        limit = timeout;
        limitEnd = supervisor.now() + timeout.toNanos();
        limited = handler;
        supervisor.limited(this);
    }

    /** Returns whether the handler's time is up, also if it has not been told yet. */
    public synchronized boolean isOverLimit() {
        return limited != null && limitEnd - supervisor.now() <= 0;
    }

    /** Stops handler and renewals if the handler's time is up. */
    void timeOut(RenewalObserver observer) {
        Runnable handler;
        synchronized (this) {
            handler = limited;
            if (handler == null || !isOverLimit()) {
                return;
            }
            limited = null;
            supervisor.unlimited(this);
            window.leaveToItsEnd();
            RenewedLease held = lease;
            if (held != null) {
                held.leaveToItsEnd();
            }
        }
        log.warn(
                "A handler of {} runs longer than its timeout of {} ms: it is interrupted, and its message and claim are "
                        + "renewed no more",
                window.subscription(),
                limit.toMillis());
        handler.run();
        observer.timedOut(window.subscription());
    }

    /** The handler has ended. What is left to do is done under renewal again, even if it ended too late. */
    public synchronized void endLimit() {
        if (limited != null) {
            limited = null;
            supervisor.unlimited(this);
        }
        window.renewAgain();
        RenewedLease held = lease;
        if (held != null) {
            held.renewAgain();
        }
    }

    /**
     * Lets the handler change the message's visibility itself. A longer one than ours is not shortened, neither by a
     * renewal nor by a return; a shorter one lasts until the next renewal, and zero gives the window up.
     *
     * @param wanted the visibility, from now on
     * @param request sends the change; called when no renewal is under way that would overwrite it
     * @return the request's outcome; fails with {@link IllegalStateException} once the window is over or lost
     */
    public CompletableFuture<Void> choose(Duration wanted, Supplier<CompletableFuture<Void>> request) {
        return window.choose(wanted, request);
    }

    /**
     * The handler has ended, and the claim's completion has begun. Its lease is renewed on, since that may take long; but
     * a renewal that finds the claim no longer held may have come after the completion, which is no loss.
     */
    public void completing() {
        endLimit();
        RenewedLease held = lease;
        if (held != null) {
            held.completing();
        }
    }

    /**
     * The message's delete begins. Its window is renewed on until that is confirmed; but a renewal that is refused may
     * have come after the delete, which is no loss.
     *
     * @return completes when no renewal is under way that began before
     */
    public CompletableFuture<Void> deleting() {
        return window.ending();
    }

    /** Renews the lease no more: the claim has been completed, released or lost. */
    public void letGo() {
        endLimit();
        RenewedLease held = lease;
        if (held != null) {
            held.letGo();
            lease = null;
        }
    }

    /** Returns whether the lease that the store last granted has not run out by this JVM's monotonic clock. */
    public boolean isHeld() {
        RenewedLease held = lease;
        return held != null && held.isHeld();
    }

    /** Returns whether the message is still invisible to other consumers on our behalf, by this JVM's monotonic clock. */
    public boolean isInvisible() {
        return window.isOn(supervisor.now());
    }

    /** Renews nothing any more. A renewal of the window that is under way is not awaited. */
    public void stop() {
        letGo();
        var unused = supervisor.forget(window);
    }

    /**
     * Stops, waits for a renewal of the window that is under way, since it would overwrite the new visibility, and makes
     * the message visible after a delay. Does nothing once the window is over or lost: another consumer may have
     * received the message by then, and on a standard queue an old receipt handle would expose it.
     *
     * @param delay rounded up to whole seconds
     */
    public CompletableFuture<Void> returnAfter(Duration delay) {
        return returnAll(Map.of(this, delay));
    }

    /**
     * Does for many deliveries what {@link #returnAfter} does for one, in as few requests as possible. Where a renewal is
     * under way, the message follows when that is answered.
     *
     * @param delays by delivery
     */
    public static CompletableFuture<Void> returnAll(Map<Renewal, Duration> delays) {
        Map<Subscription, List<Change>> ready = new HashMap<>();
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        delays.forEach((renewal, delay) -> {
            RenewedWindow window = renewal.window;
            boolean ours = renewal.isInvisible();
            renewal.letGo();
            CompletableFuture<Void> stopped = renewal.supervisor.forget(window);
            if (stopped.isDone()) {
                window.exposure(delay, ours)
                        .ifPresent(change -> ready.computeIfAbsent(window.subscription(), queue -> new ArrayList<>())
                                .add(change));
            } else {
                sent.add(stopped.thenCompose(ignored -> expose(
                        window.subscription(),
                        window.exposure(delay, ours).stream().toList())));
            }
        });
        ready.forEach((subscription, changes) -> sent.add(expose(subscription, changes)));
        return CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new));
    }

    private static CompletableFuture<Void> expose(Subscription subscription, List<Change> changes) {
        return changes.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : subscription.visibility().change(changes).thenAccept(answers -> {
                    for (Change change : changes) {
                        QueueVisibility.Result answer = answers.get(change.receiptHandle());
                        if (answer != QueueVisibility.Result.CHANGED) {
                            log.warn(
                                    "Returning a message of {} was answered with {}; it will be visible when its window ends",
                                    subscription,
                                    answer);
                        }
                    }
                });
    }
}
