package io.exactlyonce.renewal;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.time.Clockwork;
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
 * <p>It has no thread of its own: {@link #begin} has a {@link Clockwork} call {@link #tick()}.
 */
public final class RenewalSupervisor {

    /** Time between two looks for what is due: a tenth of the shortest interval between renewals. */
    static final Duration TICK = RenewalSchedule.SHORTEST_INTERVAL.dividedBy(10);

    private final RenewalSchedule schedule;
    private final NanoClock clock;
    private final Jitter random;
    private final Set<RenewedWindow> windows = ConcurrentHashMap.newKeySet();
    private final Set<RenewedLease> leases = ConcurrentHashMap.newKeySet();
    private final Set<Renewal> limited = ConcurrentHashMap.newKeySet();
    private final RenewalObserver observer;
    private final PauseDetector pauses;
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
        this.windowRenewer = new WindowRenewer(observer, clock, random);
        this.leaseRenewer = new LeaseRenewer(store, observer, leaseExecutor, clock, random);
        this.pauses = new PauseDetector(observer, clock.nanoTime());
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
                newState(subscription.window().length(), receivedAt),
                clock);
        windows.add(window);
        return new Renewal(this, window);
    }

    /** Returns how long ago it was looked for what is due: a tenth of a second while all is well. */
    public Duration sinceLastTick() {
        return pauses.sinceLast(now());
    }

    /**
     * Looks for what is due from now on, ten times a second.
     *
     * @param clockwork calls {@link #tick()}
     * @param thread names the thread
     * @return ends it
     */
    public Clockwork.Ticks begin(Clockwork clockwork, String thread) {
        pauses.reset(now());
        return clockwork.every(TICK, thread, () -> Boundary.guard(thread, this::tick));
    }

    /**
     * Renews the lease of a claim without a message from now on, for 12 h at most.
     *
     * @param length the lease's length
     * @param askedAt when the claim was asked for, by the monotonic clock
     * @param handler is stopped if the lease is lost
     */
    public RenewedLease hold(ClaimId claim, Duration length, long askedAt, Runnable handler) {
        long ceiling = askedAt + VisibilityWindow.CEILING.toNanos();
        return added(new RenewedLease(this, null, claim, newState(length, askedAt), ceiling, handler));
    }

    /** Renews what is due. Never throws for a renewal that fails, and never waits for one. */
    public void tick() {
        long now = now();
        pauses.tick(now, windows);
        limited.forEach(renewal -> renewal.timeOut(observer));
        // First, so that a lease which ended in a pause is asked for before it is given up: the answer comes later.
        boolean isLeaseDue = leaseRenewer.look(leases, now);
        if (windowRenewer.look(windows, now)) {
            windowRenewer.renew(windows, now);
        }
        if (isLeaseDue) {
            leaseRenewer.renew(leases, now);
        }
    }

    /** Returns how many deliveries have their window renewed. */
    public int inFlight() {
        return windows.size();
    }

    RenewedLease renew(RenewedWindow window, ClaimId claim, Duration length, long askedAt, Runnable handler) {
        return added(new RenewedLease(
                this, window.subscription(), claim, newState(length, askedAt), window.ceiling(), handler));
    }

    private RenewedLease added(RenewedLease lease) {
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

    /** A renewal's handler has a timeout from now on. */
    void limited(Renewal renewal) {
        limited.add(renewal);
    }

    void unlimited(Renewal renewal) {
        limited.remove(renewal);
    }

    long now() {
        return clock.nanoTime();
    }

    private RenewalState newState(Duration length, long askedAt) {
        return new RenewalState(length, askedAt, schedule, random.next());
    }
}
