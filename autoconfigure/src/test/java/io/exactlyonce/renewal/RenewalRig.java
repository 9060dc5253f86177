package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/** A supervisor on a clock, a queue and a store that do as they are told, and what it tells. */
final class RenewalRig implements RenewalObserver {

    final FakeClock clock = new FakeClock();
    final ScriptedStore store = new ScriptedStore();
    final ScriptedQueue queue = new ScriptedQueue();
    final List<Result> windowResults = new ArrayList<>();
    final List<Result> leaseResults = new ArrayList<>();
    final List<Subscription> timedOut = new ArrayList<>();
    final List<Duration> pauses = new ArrayList<>();
    final List<ClaimKey> lostKeys = new ArrayList<>();
    final AtomicInteger timesLost = new AtomicInteger();
    final AtomicInteger timesTimedOut = new AtomicInteger();
    final RenewalSupervisor supervisor;

    RenewalRig(RenewalSchedule schedule) {
        supervisor = new RenewalSupervisor(store, schedule, this, Runnable::run, clock, () -> 0);
    }

    static RenewalRig renewing() {
        return new RenewalRig(new RenewalSchedule(0.5, 0, 3));
    }

    Renewal start(long windowSeconds) {
        Subscription orders = new Subscription("listener", "orders", VisibilityWindow.ofSeconds(windowSeconds), queue);
        return supervisor.start(orders, "handle", clock.nanoTime());
    }

    /** Claims, too, with a lease as long as the window is by default. */
    Renewal hold(long seconds) {
        Renewal renewal = start(seconds);
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        renewal.hold(claim, Duration.ofSeconds(seconds), clock.nanoTime(), timesLost::incrementAndGet);
        return renewal;
    }

    void limit(Renewal renewal, Duration timeout) {
        renewal.limit(timeout, timesTimedOut::incrementAndGet);
    }

    void tickFor(Duration duration) {
        for (long tick = duration.dividedBy(RenewalSupervisor.TICK); tick > 0; tick--) {
            clock.advance(RenewalSupervisor.TICK);
            supervisor.tick();
        }
    }

    @Override
    public void renewed(Subscription subscription, Target target, Result result) {
        (target == Target.WINDOW ? windowResults : leaseResults).add(result);
    }

    @Override
    public void claimLost(Subscription subscription, ClaimKey key) {
        lostKeys.add(key);
    }

    @Override
    public void timedOut(Subscription subscription) {
        timedOut.add(subscription);
    }

    @Override
    public void paused(Duration length) {
        pauses.add(length);
    }
}
