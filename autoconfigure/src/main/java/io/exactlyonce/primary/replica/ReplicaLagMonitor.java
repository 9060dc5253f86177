package io.exactlyonce.primary.replica;

import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.time.Clockwork;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches how far replicas are behind, at intervals, on a thread of its own, with a connection of the claims' pool for the
 * milliseconds that a look takes. Warns where a failover may forget claims.
 *
 * <p>Not guaranteed: that lag is exact. The server measures it where there is traffic. Of a replica that stands still it may
 * stand still as well, while the bytes that are not replayed grow.
 */
public final class ReplicaLagMonitor implements AutoCloseable {

    /** Bounds the values of a meter's tag. */
    static final int MAX_REPLICAS = 16;

    private static final Logger log = LoggerFactory.getLogger(ReplicaLagMonitor.class);

    private final PrimaryPinnedDataSource dataSource;
    private final Clockwork clockwork;
    private final Duration interval;
    private final ReplicaObserver observer;
    private final ReplicaWarnings warnings;
    private Clockwork.@Nullable Ticks looks;
    private volatile boolean closed;

    /**
     * @param dataSource leads to the primary
     * @param interval time between two looks; zero for none at all
     * @param observer learns of each look
     */
    public ReplicaLagMonitor(
            PrimaryPinnedDataSource dataSource, Clockwork clockwork, Duration interval, ReplicaObserver observer) {
        this.dataSource = dataSource;
        this.clockwork = clockwork;
        this.interval = interval;
        this.observer = observer;
        this.warnings = new ReplicaWarnings(dataSource.synchronousCommit());
    }

    /** Looks at once, on the thread that calls, and from now on; never again once it is closed. */
    public void start() {
        if (closed || interval.isZero()) {
            return;
        }
        look();
        synchronized (this) {
            if (!closed && looks == null) {
                looks = clockwork.every(interval, "exactly-once-replicas-1", this::look);
            }
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (looks != null) {
            looks.close();
            looks = null;
        }
    }

    void look() {
        try {
            observer.observed(read());
        } catch (RuntimeException failure) {
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
            all = ReplicaStatus.read(dataSource);
        } catch (RuntimeException failure) {
            if (closed) {
                throw failure;
            }
            warnings.unreadable(failure);
            return List.of();
        }
        warnings.read(all);
        Map<String, ReplicaLag> slowest = new TreeMap<>();
        for (ReplicaStatus status : all) {
            if (status.visible()) {
                slowest.merge(status.replica(), status.lag(), ReplicaLag::or);
            }
        }
        return slowest.values().stream()
                .sorted(Comparator.comparing(ReplicaLag::lag).reversed())
                .limit(MAX_REPLICAS)
                .toList();
    }
}
