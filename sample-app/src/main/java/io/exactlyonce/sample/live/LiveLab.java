package io.exactlyonce.sample.live;

import io.exactlyonce.sample.lab.Cleanup;
import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.Deadline;
import io.exactlyonce.sample.lab.JavaCommand;
import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.LabException;
import java.io.IOException;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lab with its web page. Orders flow while a page is open; after the first few the partner becomes slow by itself. All
 * else happens at the push of a button. Goes on until it is closed.
 */
public final class LiveLab implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LiveLab.class);

    private static final String BOTH = "lab";
    private static final Duration START = Duration.ofMinutes(2);
    private static final Duration STOP = Duration.ofSeconds(5);
    private static final Duration BETWEEN_ORDERS = Duration.ofMillis(250);
    private static final Duration REPLICA_LAG = Duration.ofSeconds(10);
    private static final double WATCHED_SECONDS = 3;

    private final LiveSettings settings;
    private final Cleanup cleanup;
    private final LiveServers servers;
    private final Journal journal = new Journal(System::nanoTime);
    private final Partner partner;
    private final OrderStream orders;
    private final LiveSide naive;
    private final LiveSide exactlyOnce;
    private final EngineMeters meters = new EngineMeters();
    private volatile URI url = URI.create("");
    private volatile Duration window;
    private volatile long takeovers;
    private volatile boolean isRunning;
    private volatile double lookedAt = Double.NEGATIVE_INFINITY;

    private LiveLab(LiveSettings settings, LiveServers servers, JavaCommand java, Cleanup cleanup) throws IOException {
        this.settings = settings;
        this.servers = servers;
        this.cleanup = cleanup;
        this.window = settings.window();
        this.partner = new Partner(settings.slowing(), System::nanoTime);
        this.orders = new OrderStream(servers.queues());
        this.naive = cleanup.add(new LiveSide(Kind.NAIVE, servers, java, partner, journal));
        this.exactlyOnce = cleanup.add(new LiveSide(Kind.EXACTLY_ONCE, servers, java, partner, journal));
    }

    /**
     * Starts servers, page and workers, and returns when orders can flow. Everything is stopped when the JVM is told to stop,
     * or by {@link #close}.
     *
     * @param mainClass what starts a worker, if its first argument is {@code worker}
     */
    public static LiveLab start(LiveSettings settings, Console console, Class<?> mainClass)
            throws IOException, InterruptedException, SQLException {
        LiveLab lab = open(settings, console, mainClass);
        try {
            lab.startWorkers();
        } catch (IOException | InterruptedException | RuntimeException e) {
            lab.close();
            throw e;
        }
        console.progress("two workers of each kind are ready; orders flow while the page is open");
        return lab;
    }

    /** Starts servers and page only. */
    static LiveLab open(LiveSettings settings, Console console, Class<?> mainClass) throws IOException, SQLException {
        Cleanup cleanup = new Cleanup();
        Runtime.getRuntime().addShutdownHook(new Thread(cleanup::close, "lab-cleanup"));
        try {
            LiveServers servers = LiveServers.start(settings.window(), cleanup);
            console.progress("PostgreSQL with a replica, and an SQS server, are up");
            LiveLab lab = new LiveLab(settings, servers, JavaCommand.ofThisJvm(mainClass), cleanup);
            lab.url = cleanup.add(LivePage.start(lab, settings.port())).url();
            console.progress("open %s in a browser; Ctrl-C ends the lab", lab.url);
            return lab;
        } catch (IOException | SQLException | RuntimeException e) {
            cleanup.close();
            throw e;
        }
    }

    private void startWorkers() throws IOException, InterruptedException {
        naive.startWorkers();
        exactlyOnce.startWorkers();
        awaitWorkers(Deadline.in(START));
        isRunning = true;
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(LiveLab::daemon);
        cleanup.add(() -> stop(clock));
        var unused = clock.scheduleAtFixedRate(this::sendOrder, 0, BETWEEN_ORDERS.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void awaitWorkers(Deadline deadline) throws InterruptedException {
        try {
            naive.awaitWorkers(deadline);
            exactlyOnce.awaitWorkers(deadline);
        } catch (LabException e) {
            // It names a log.
            servers.workspace().keepLogs();
            throw e;
        }
    }

    /** An order that is being sent may be sent: the queues are stopped later. */
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
            if (orders.sendNext() == settings.ordersBeforeTrouble() && !partner.isSlow()) {
                setPartnerSlow(true);
            }
        } catch (RuntimeException e) {
            log.warn("An order could not be sent", e);
        }
    }

    /** Returns the page's address. */
    public URI url() {
        return url;
    }

    void setPartnerSlow(boolean slow) {
        partner.setSlow(slow);
        journal.note(BOTH, slow ? "partner-slows" : "partner-recovers", "");
    }

    void setReplicaLagging(boolean lagging) {
        Duration lag = lagging ? REPLICA_LAG : Duration.ZERO;
        servers.replica().setLag(lag);
        journal.note(BOTH, "replica-lags", Long.toString(lag.toSeconds()));
    }

    /** Returns whether a worker of either side could be killed: those that replace others must be ready first. */
    boolean killWorkers() {
        boolean naiveDied = naive.killBusiest();
        boolean oursDied = exactlyOnce.killBusiest();
        return naiveDied || oursDied;
    }

    void redeliver() {
        journal.note(BOTH, "redelivered", Integer.toString(orders.sendAgain()));
    }

    void setWindow(Duration newWindow) {
        servers.queues().setWindow(newWindow);
        window = newWindow;
        journal.note(BOTH, "window", Long.toString(newWindow.toSeconds()));
    }

    /** Looks at everything; orders flow while this is done again and again. */
    Snapshot look() throws InterruptedException, SQLException {
        lookedAt = journal.second();
        Engine engine = meters.read(exactlyOnce.ready());
        if (engine.takeovers() > takeovers) {
            journal.note(Kind.EXACTLY_ONCE.label(), "taken-over", Long.toString(engine.takeovers() - takeovers));
            takeovers = engine.takeovers();
        }
        return new Snapshot(
                lookedAt,
                isRunning,
                orders.sent(),
                settings.ordersBeforeTrouble(),
                window.toSeconds(),
                partner.isSlow(),
                servers.replica().lag().toSeconds(),
                naive.view(),
                exactlyOnce.view(),
                engine,
                journal.last());
    }

    @Override
    public void close() {
        cleanup.close();
    }
}
