package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/**
 * Renews the windows and leases of all deliveries of an application. What is due goes into one SQS request for ten
 * messages of a queue and one call of the store, together with what is nearly due.
 *
 * <p>It has no thread of its own: {@link #tick()} is called by a {@link RenewalTicker}.
 */
public final class RenewalSupervisor {

    private final RenewalSchedule schedule;
    private final NanoClock clock;
    private final Jitter random;
    private final DueSet<RenewedWindow> windows;
    private final DueSet<RenewedLease> leases;
    private final Set<HandlerDeadline> limits = ConcurrentHashMap.newKeySet();
    private final RenewalObserver observer;
    private final PauseDetector lateTicks;
    private final WindowRenewer windowRenewer;
    private final LeaseRenewer leaseRenewer;

    /**
     * @param store where leases are kept
     * @param observer learns of every attempt
     * @param leaseExecutor calls the store; a single thread, so that a store which does not answer delays no window
     * @param clock monotonic, in nanoseconds
     * @param random from 0 inclusive to 1 exclusive
     */
    public RenewalSupervisor(
            ClaimStore store,
            RenewalSchedule schedule,
            RenewalObserver observer,
            Executor leaseExecutor,
            NanoClock clock,
            Jitter random) {
        this.schedule = schedule;
        this.observer = observer;
        this.clock = clock;
        this.random = random;
        this.windows = new DueSet<>(RenewedWindow::announce, clock.nanoTime());
        this.leases = new DueSet<>(RenewedLease::announce, clock.nanoTime());
        this.windowRenewer = new WindowRenewer(observer, clock, random);
        this.leaseRenewer = new LeaseRenewer(store, observer, leaseExecutor, clock, random);
        this.lateTicks = new PauseDetector(observer, clock.nanoTime());
    }

    /**
     * Renews a delivery's window from now on.
     *
     * @param receivedAt when the message was received, by the monotonic clock
     */
    public Renewal start(Subscription subscription, String receiptHandle, long receivedAt) {
        RenewedWindow window = new RenewedWindow(
                subscription,
                receiptHandle,
                receivedAt,
                span(subscription.window().length(), receivedAt, windows.next()),
                clock);
        windows.add(window);
        return new Renewal(this, window);
    }

    /** Ticks follow from now on. */
    void begin() {
        lateTicks.reset(now());
    }

    /**
     * Renews the lease of a claim from now on that no message stands behind.
     *
     * @param length the lease's length
     * @param begun when the claim was asked for, by the monotonic clock
     * @param onLost called once if the lease is lost; must not block
     */
    public HeldLease hold(ClaimId claim, Duration length, long begun, Runnable onLost) {
        long ceiling = begun + VisibilityWindow.CEILING.toNanos();
        RenewedLease lease = new RenewedLease(null, claim, span(length, begun, leases.next()), ceiling, onLost);
        leases.add(lease);
        return new HeldLease(this, lease);
    }

    /** Renews whatever is due. Never throws for a renewal that fails, and never waits for one. */
    public void tick() {
        long now = now();
        lateTicks.tick(now, windows.all());
        limits.stream().filter(limit -> limit.isOver(now)).forEach(this::end);
        // First, so that a lease which ended in a pause is asked for before it is given up: the answer comes later.
        if (leases.isDue(now)) {
            leaseRenewer.loseInDoubt(leases.all(), now);
        }
        if (windows.isDue(now)) {
            windowRenewer.loseInDoubt(windows.all(), now);
            windowRenewer.renewDue(windows.all(), now);
            windows.looked(now);
        }
        if (leases.isDue(now)) {
            leaseRenewer.renewDue(leases.all(), now);
            leases.looked(now);
        }
    }

    /** Returns how many deliveries have their window renewed. */
    public int inFlight() {
        return windows.size();
    }

    RenewedLease renew(RenewedWindow window, ClaimId claim, Duration length, long begun, Runnable onLost) {
        RenewedLease lease = new RenewedLease(
                window.subscription(), claim, span(length, begun, leases.next()), window.ceiling(), onLost);
        leases.add(lease);
        return lease;
    }

    CompletableFuture<Void> forget(RenewedWindow window) {
        windows.remove(window);
        return window.stop();
    }

    void forget(RenewedLease lease) {
        leases.remove(lease);
        lease.stop();
    }

    void enforce(HandlerDeadline limit) {
        limits.add(limit);
    }

    void forget(HandlerDeadline limit) {
        limits.remove(limit);
    }

    private void end(HandlerDeadline limit) {
        limits.remove(limit);
        limit.enforce(observer);
    }

    long now() {
        return clock.nanoTime();
    }

    private RenewalState span(Duration length, long begun, NextLook next) {
        return new RenewalState(length, begun, schedule, random.next(), next);
    }
}
