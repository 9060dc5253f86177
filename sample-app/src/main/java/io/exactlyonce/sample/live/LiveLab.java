package io.exactlyonce.sample.live;

import io.exactlyonce.sample.lab.Cleanup;
import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.Deadline;
import io.exactlyonce.sample.lab.JavaCommand;
import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.LabException;
import io.exactlyonce.sample.lab.WorkerProcess;
import io.exactlyonce.sample.lab.Workspace;
import io.exactlyonce.sample.worker.Order;
import java.io.IOException;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lab with its web page. Orders flow while a page is open, and the story begins with the first order. The page's
 * buttons cause everything else. The lab runs until it is closed.
 */
public final class LiveLab implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LiveLab.class);

    private static final String BOTH = "lab";
    private static final Duration START = Duration.ofMinutes(2);
    private static final Duration WARM_UP = Duration.ofSeconds(30);
    private static final int WARM_UP_ROUNDS = 3;
    private static final int WARM_UP_ORDERS = 10;
    private static final Duration STOP = Duration.ofSeconds(5);
    private static final Duration BETWEEN_ORDERS = Duration.ofMillis(250);
    private static final Duration REPLICA_LAG = Duration.ofSeconds(10);
    private static final double WATCHED_SECONDS = 3;
    private static final Duration PAYOUT = Duration.ofSeconds(10);
    private static final long PAYOUT_CENTS = 4_999;

    private final Cleanup cleanup;
    private final LiveServers servers;
    private final Journal journal = new Journal(System::nanoTime);
    private final Partner partner;
    private final OrderStream orders;
    private final LiveSide naive;
    private final LiveSide exactlyOnce;
    private final EngineMeters meters = new EngineMeters();
    private volatile URI url = URI.create("");
    private volatile Duration visibilityTimeout;
    private volatile long takeovers;
    private final AtomicInteger payouts = new AtomicInteger();
    private volatile Chapter chapter = Chapter.STARTING;
    private volatile double flowsSince;
    private volatile double lookedAt = Double.NEGATIVE_INFINITY;

    private LiveLab(LiveSettings settings, LiveServers servers, JavaCommand java, Cleanup cleanup) throws IOException {
        this.servers = servers;
        this.cleanup = cleanup;
        this.visibilityTimeout = settings.visibilityTimeout();
        this.partner = new Partner(settings.slowing(), System::nanoTime);
        this.orders = new OrderStream(servers.queues());
        this.naive = cleanup.add(new LiveSide(Kind.NAIVE, servers, java, partner, journal));
        this.exactlyOnce = cleanup.add(new LiveSide(Kind.EXACTLY_ONCE, servers, java, partner, journal));
    }

    /**
     * Starts servers, page and workers, and returns when orders can flow. A signal to the JVM or {@link #close} stops
     * everything.
     *
     * @param workspace the directories of the lab's files; it must be made before this class is loaded, because it sets
     *     where this process logs
     * @param mainClass the class that starts a worker if its first argument is {@code worker}
     */
    public static LiveLab start(LiveSettings settings, Workspace workspace, Console console, Class<?> mainClass)
            throws IOException, InterruptedException, SQLException {
        LiveLab lab = open(settings, workspace, console, mainClass);
        try {
            console.progress("two workers of each kind are starting, each in a JVM of its own");
            lab.startWorkers();
        } catch (IOException | InterruptedException | RuntimeException e) {
            lab.close();
            throw e;
        }
        console.progress("the workers are ready: open %s in a browser; Ctrl-C ends the lab", lab.url);
        return lab;
    }

    /** Starts only servers and page. */
    static LiveLab open(LiveSettings settings, Workspace workspace, Console console, Class<?> mainClass)
            throws IOException, SQLException {
        Cleanup cleanup = new Cleanup();
        Runtime.getRuntime().addShutdownHook(new Thread(cleanup::close, "lab-cleanup"));
        try {
            LiveServers servers = LiveServers.start(settings.visibilityTimeout(), workspace, cleanup);
            console.progress("PostgreSQL with a replica, and an SQS server, are up");
            LiveLab lab = new LiveLab(settings, servers, JavaCommand.ofThisJvm(mainClass), cleanup);
            lab.url = cleanup.add(LivePage.start(lab, settings.port())).url();
            return lab;
        } catch (IOException | SQLException | RuntimeException e) {
            cleanup.close();
            throw e;
        }
    }

    void startWorkers() throws IOException, InterruptedException {
        naive.startWorkers();
        exactlyOnce.startWorkers();
        awaitWorkers(Deadline.in(START));
        warmUp(Deadline.in(WARM_UP));
        chapter = Chapter.CALM;
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(LiveLab::daemon);
        cleanup.add(() -> stop(clock));
        var unused = clock.scheduleAtFixedRate(this::sendOrder, 0, BETWEEN_ORDERS.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Lets workers handle some orders that do not count, because in a fresh JVM the first orders may take longer than
     * the visibility timeout.
     */
    private void warmUp(Deadline deadline) throws InterruptedException {
        for (int round = 1; round <= WARM_UP_ROUNDS; round++) {
            orders.warmUp(round, WARM_UP_ORDERS);
            deadline.waitUntil(() -> naive.isDrained() && exactlyOnce.isDrained());
        }
        meters.reset(exactlyOnce.ready());
    }

    private void awaitWorkers(Deadline deadline) throws InterruptedException {
        try {
            naive.awaitWorkers(deadline);
            exactlyOnce.awaitWorkers(deadline);
        } catch (LabException e) {
            // The exception names a log.
            servers.workspace().keepLogs();
            throw e;
        }
    }

    /** Stops the clock. An order that is being sent is still sent, because the queues are stopped later. */
    private static void stop(ScheduledExecutorService clock) throws InterruptedException {
        clock.shutdown();
        clock.awaitTermination(STOP.toSeconds(), TimeUnit.SECONDS);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "lab-orders");
        thread.setDaemon(true);
        return thread;
    }

    private void sendOrder() {
        if (journal.second() - lookedAt > WATCHED_SECONDS) {
            return;
        }
        try {
            long order = orders.sendNext();
            if (order == 1) {
                flowsSince = journal.second();
            }
            if (Chapter.of(order) != chapter) {
                begin(Chapter.of(order));
            }
        } catch (RuntimeException e) {
            log.warn("An order could not be sent, or the chapter that begins with it did not happen", e);
        }
    }

    private void begin(Chapter next) {
        chapter = next;
        switch (next) {
            case SLOW -> setPartnerSlow(true);
            case KILLED -> killWorkers();
            case REDELIVERED -> redeliver();
            case QUICK -> setPartnerSlow(false);
            case OVER -> journal.note(BOTH, "story-over", "");
            case STARTING, CALM -> {
                // Only orders flow now.
            }
        }
    }

    LiveSide naive() {
        return naive;
    }

    /** Returns the page's address. */
    public URI url() {
        return url;
    }

    void setPartnerSlow(boolean slow) {
        if (slow == partner.isSlow()) {
            return;
        }
        partner.setSlow(slow);
        journal.note(BOTH, slow ? "partner-slows" : "partner-recovers", "");
    }

    void setReplicaLagging(boolean lagging) {
        Duration lag = lagging ? REPLICA_LAG : Duration.ZERO;
        servers.replica().setLag(lag);
        journal.note(BOTH, "replica-lags", Long.toString(lag.toSeconds()));
    }

    /** Returns whether a worker of either side was killed. Workers that replace others must be ready first. */
    boolean killWorkers() {
        boolean naiveDied = naive.killBusiest();
        boolean oursDied = exactlyOnce.killBusiest();
        return naiveDied || oursDied;
    }

    /**
     * Sends a payout, and kills its worker before it can record the payout. The key is then in doubt, and is parked.
     *
     * @return whether that happened in time
     */
    boolean killDuringPayout() throws InterruptedException {
        if (exactlyOnce.ready().size() < 2) {
            return false;
        }
        Order payout = new Order("payout-%04d".formatted(payouts.incrementAndGet()), PAYOUT_CENTS);
        servers.queues().sendPayout(payout);
        boolean isKilled = Deadline.in(PAYOUT).waitUntil(() -> exactlyOnce.killOwnerOf(payout.orderId()));
        if (isKilled) {
            journal.note(Kind.EXACTLY_ONCE.label(), "payout", payout.orderId());
        }
        return isKilled;
    }

    /** Returns how often a payout was paid. */
    int paid(String payout) {
        return exactlyOnce.chargesOf(payout);
    }

    /** Returns the address of a worker's console; empty while no worker is ready. */
    Optional<URI> console() throws InterruptedException {
        return console(exactlyOnce);
    }

    /** Returns the address of the console of one side's worker. The naive side has the default console. */
    Optional<URI> console(LiveSide side) throws InterruptedException {
        for (WorkerProcess worker : side.ready()) {
            return Optional.of(URI.create("http://127.0.0.1:%d/actuator/exactlyonceconsole"
                    .formatted(worker.awaitPort(Deadline.in(Duration.ZERO)))));
        }
        return Optional.empty();
    }

    void redeliver() {
        journal.note(BOTH, "redelivered", Integer.toString(orders.sendAgain()));
    }

    void setVisibilityTimeout(Duration newTimeout) {
        servers.queues().setVisibilityTimeout(newTimeout);
        visibilityTimeout = newTimeout;
        journal.note(BOTH, "window", Long.toString(newTimeout.toSeconds()));
    }

    /** Takes a snapshot of everything. Orders flow while snapshots are taken. */
    Snapshot look() throws InterruptedException, SQLException {
        lookedAt = journal.second();
        Engine engine = meters.read(exactlyOnce.ready());
        if (engine.takeovers() > takeovers) {
            journal.note(Kind.EXACTLY_ONCE.label(), "taken-over", Long.toString(engine.takeovers() - takeovers));
            takeovers = engine.takeovers();
        }
        // This view is read before the chapter, so that no order is shown while the workers seem to be starting.
        SideView left = naive.view();
        SideView right = exactlyOnce.view();
        return new Snapshot(
                lookedAt,
                chapter,
                flowsSince,
                visibilityTimeout.toSeconds(),
                partner.isSlow(),
                servers.replica().lag().toSeconds(),
                left,
                right,
                engine,
                journal.last());
    }

    @Override
    public void close() {
        cleanup.close();
    }
}
