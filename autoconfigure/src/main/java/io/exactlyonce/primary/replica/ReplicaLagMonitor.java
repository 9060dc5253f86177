package io.exactlyonce.primary.replica;

import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Watches how far replicas are behind, at intervals, on a thread and a connection of its own: no delivery and no renewal
 * waits for it. Warns where a failover may forget claims.
 *
 * <p>Not guaranteed: that lag is exact. The server measures it where there is traffic. Of a replica that stands still it is
 * known only for how long, at least, and that some ten seconds late.
 */
public final class ReplicaLagMonitor implements AutoCloseable {

    /** Bounds the values of a meter's tag. */
    static final int MAX_REPLICAS = 16;

    private static final Logger log = LoggerFactory.getLogger(ReplicaLagMonitor.class);

    private final PrimaryPinnedDataSource dataSource;
    private final Duration interval;
    private final ReplicaObserver observer;
    private final NanoClock clock;
    private final WalHistory history = new WalHistory();
    private final ReplicaWarnings warnings;
    private @Nullable ScheduledExecutorService thread;
    private volatile boolean closed;

    /**
     * @param dataSource leads to the primary
     * @param interval time between two looks; zero for none at all
     * @param observer learns of each look
     */
    public ReplicaLagMonitor(PrimaryPinnedDataSource dataSource, Duration interval, ReplicaObserver observer) {
        this(dataSource, interval, observer, System::nanoTime);
    }

    ReplicaLagMonitor(
            PrimaryPinnedDataSource dataSource, Duration interval, ReplicaObserver observer, NanoClock clock) {
        this.dataSource = dataSource;
        this.interval = interval;
        this.observer = observer;
        this.clock = clock;
        this.warnings = new ReplicaWarnings(dataSource.synchronousCommit());
    }

    /** Looks at once, and from now on; never again once it is closed. */
    public synchronized void start() {
        if (closed || interval.isZero() || thread != null) {
            return;
        }
        var threads = new CustomizableThreadFactory("exactly-once-replicas-");
        threads.setDaemon(true);
        thread = Executors.newSingleThreadScheduledExecutor(threads);
        var unused = thread.scheduleWithFixedDelay(this::look, 0, interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (thread != null) {
            thread.shutdownNow();
            thread = null;
        }
    }

    /** Never throws: an exception would silently end the schedule. */
    void look() {
        try {
            observer.observed(read());
        } catch (RuntimeException | Error failure) {
            if (closed) {
                log.debug("The last look at replica lag was broken off", failure);
            } else {
                log.error("Telling replica lag failed; the next look follows in {}", interval, failure);
            }
        }
    }

    private List<ReplicaLag> read() {
        List<ReplicaStatus> all;
        try {
            all = ReplicaStatus.read(dataSource.unpooled());
        } catch (RuntimeException failure) {
            if (closed) {
                throw failure;
            }
            warnings.unreadable(failure);
            return List.of();
        }
        warnings.read(all);
        return lags(all.stream().filter(ReplicaStatus::visible).toList());
    }

    private List<ReplicaLag> lags(List<ReplicaStatus> all) {
        long now = clock.nanoTime();
        all.stream().mapToLong(ReplicaStatus::written).max().ifPresent(written -> history.record(written, now));
        Map<String, ReplicaLag> slowest = new TreeMap<>();
        all.forEach(status -> slowest.merge(status.replica(), lag(status, now), ReplicaLag::or));
        all.stream().mapToLong(ReplicaStatus::replayed).min().ifPresent(history::forgetUpTo);
        return slowest.values().stream()
                .sorted(Comparator.comparing(ReplicaLag::lag).reversed())
                .limit(MAX_REPLICAS)
                .toList();
    }

    private ReplicaLag lag(ReplicaStatus status, long now) {
        // A replica that has replayed all is not behind, however long its last commit took to get there.
        Duration lag = Duration.ZERO;
        if (status.behind() > 0) {
            Duration proven = history.provenLag(status.replayed(), now);
            Duration reported = status.reportedLag().orElse(Duration.ZERO);
            lag = proven.compareTo(reported) > 0 ? proven : reported;
        }
        return new ReplicaLag(status.replica(), lag, status.behind());
    }
}
