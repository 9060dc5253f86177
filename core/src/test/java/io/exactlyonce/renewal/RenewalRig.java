package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.renewal.RenewalEvent.Target;
import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.time.Jitter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A renewer on a scripted clock, queue and store. The lists contain the events that the renewer reports. */
final class RenewalRig implements RenewalEvent.Observer {

    static final ClaimKey KEY = new ClaimKey("orders", "A-1");

    final FakeClock clock = new FakeClock();
    final ScriptedStore store = new ScriptedStore();
    final ScriptedQueue queue = new ScriptedQueue();
    final List<Result> visibilityResults = new ArrayList<>();
    final List<Result> leaseResults = new ArrayList<>();
    final List<RenewalEvent.TimedOut> timedOut = new ArrayList<>();
    final List<Duration> pauses = new ArrayList<>();
    final List<ClaimKey> lostKeys = new ArrayList<>();
    final AtomicInteger timesLost = new AtomicInteger();
    final AtomicInteger timesTimedOut = new AtomicInteger();
    final Renewer renewer;
    Jitter random = () -> 0;
    private final Deque<Runnable> leaseCalls = new ArrayDeque<>();
    private boolean leasesWait;
    private @Nullable Duration timeout;

    RenewalRig(RenewalSchedule schedule) {
        renewer = new Renewer(
                store, schedule, event -> event.passTo(this), this::renewLeases, clock, () -> random.next());
    }

    static RenewalRig renewing() {
        return new RenewalRig(new RenewalSchedule(0.5, 0));
    }

    /** The renewals that {@link #begin()} started. Closing this task ends them. */
    EngineScheduler.PeriodicTask ticking = () -> {};

    /**
     * Starts the renewer, and returns the tasks of its threads "thread-1" and "thread-2". The test runs these tasks.
     */
    Map<String, Runnable> begin() {
        Map<String, Runnable> ticks = new HashMap<>();
        EngineScheduler scheduler = new EngineScheduler() {
            @Override
            public long nanoTime() {
                return clock.nanoTime();
            }

            @Override
            public void after(Duration delay, Runnable task) {
                throw new UnsupportedOperationException();
            }

            @Override
            public PeriodicTask every(Duration interval, String thread, Runnable task) {
                ticks.put(thread, task);
                return () -> ticks.remove(thread);
            }

            @Override
            public Executor thread(String name) {
                throw new UnsupportedOperationException();
            }
        };
        ticking = renewer.begin(scheduler, "thread-");
        return ticks;
    }

    private void renewLeases(Runnable call) {
        if (leasesWait) {
            leaseCalls.add(call);
        } else {
            call.run();
        }
    }

    /** Makes renewals of leases wait for {@link #renewLeases()}. */
    void leasesWait() {
        leasesWait = true;
    }

    void renewLeases() {
        while (!leaseCalls.isEmpty()) {
            renewLease();
        }
    }

    /** Sends the oldest waiting call that renews leases. */
    void renewLease() {
        leaseCalls.remove().run();
    }

    MessageVisibility start(long timeoutSeconds) {
        return start("handle", timeoutSeconds);
    }

    MessageVisibility start(String handle, long timeoutSeconds) {
        return start(queue, handle, timeoutSeconds);
    }

    MessageVisibility start(QueueVisibility visibility, String handle, long timeoutSeconds) {
        Subscription orders = new Subscription(
                "listener",
                "orders",
                new QueueSettings(VisibilityWindow.ofSeconds(timeoutSeconds), null),
                timeout,
                visibility,
                PollGate.OPEN);
        return renewer.start(orders, orders.settings().window(), "id of " + handle, handle, clock.nanoTime());
    }

    /** Receives a message and claims its key. The visibility timeout and the lease have the same length. */
    MessageVisibility hold(long seconds) {
        MessageVisibility visibility = start(seconds);
        hold(visibility, seconds);
        return visibility;
    }

    ClaimId hold(MessageVisibility visibility, long seconds) {
        ClaimId claim = new ClaimId(KEY, UUID.randomUUID());
        visibility.renewLease(claim, Duration.ofSeconds(seconds), clock.nanoTime(), timesLost::incrementAndGet);
        return claim;
    }

    /** Sets the handler timeout for messages that are received from now on. */
    RenewalRig limiting(@Nullable Duration longest) {
        timeout = longest;
        return this;
    }

    void limit(MessageVisibility visibility) {
        visibility.startTimeout(KEY, timesTimedOut::incrementAndGet);
    }

    static void returnAfter(MessageVisibility visibility, Duration delay) {
        MessageVisibility.returnAll(visibility.subscription, Map.of(visibility, delay));
    }

    void tickFor(Duration duration) {
        for (long tick = duration.dividedBy(Renewer.TICK); tick > 0; tick--) {
            advance(Renewer.TICK);
        }
    }

    /** Moves the clock, and ticks once. A step that is longer than the interval of ticks is a pause of the JVM. */
    void advance(Duration duration) {
        clock.advance(duration);
        renewer.tick();
    }

    /** Lets time pass, and returns the moments of requests to the queue, in milliseconds after the call. */
    List<Long> millisOfRequests(Duration duration) {
        List<Long> sentAt = new ArrayList<>();
        for (long millis = Renewer.TICK.toMillis(); millis <= duration.toMillis(); millis += Renewer.TICK.toMillis()) {
            int before = queue.requests().size();
            advance(Renewer.TICK);
            if (queue.requests().size() > before) {
                sentAt.add(millis);
            }
        }
        return sentAt;
    }

    @Override
    public void renewed(RenewalEvent.Renewed event) {
        (event.target() == Target.WINDOW ? visibilityResults : leaseResults).add(event.result());
    }

    @Override
    public void claimLost(RenewalEvent.ClaimLost event) {
        lostKeys.add(event.key());
    }

    @Override
    public void timedOut(RenewalEvent.TimedOut event) {
        timedOut.add(event);
    }

    @Override
    public void paused(RenewalEvent.Paused event) {
        pauses.add(event.length());
    }
}
