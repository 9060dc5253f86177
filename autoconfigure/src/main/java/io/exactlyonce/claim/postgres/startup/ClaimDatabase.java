package io.exactlyonce.claim.postgres.startup;

import io.exactlyonce.claim.postgres.schema.ClaimTable;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.primary.PrimaryProbe;
import io.exactlyonce.primary.replica.ReplicaLagMonitor;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Makes sure, before the first container polls, that claims can be kept: the server is a primary, and the table is there.
 * That begins with the first container, when all database migrations of the application have run, and goes on beside the
 * rest of the start: containers look their queues up meanwhile. An application without exactly-once listeners opens no
 * connection.
 */
public final class ClaimDatabase implements AutoCloseable {

    private final PrimaryPinnedDataSource dataSource;
    private final DatabaseInitializationMode mode;
    private final ReplicaLagMonitor replicas;
    private final SharedCheck ready = new SharedCheck(this::check);
    private final StartUpCheck start = new StartUpCheck(this::requireReady);
    private volatile @Nullable Duration openingTime;

    /**
     * @param dataSource where claims live
     * @param mode {@code ALWAYS} to create the table, {@code NEVER} to leave the database alone
     * @param replicas watched as soon as claims can be kept
     */
    public ClaimDatabase(
            PrimaryPinnedDataSource dataSource, DatabaseInitializationMode mode, ReplicaLagMonitor replicas) {
        this.dataSource = dataSource;
        this.mode = mode;
        this.replicas = replicas;
    }

    /** Begins, and does not wait. */
    public void beginCheck() {
        start.begin();
    }

    /** Returns when claims can be kept, or throws why they cannot: what {@link #requireReady()} threw once. */
    public void awaitCheck() {
        start.await();
    }

    /** Makes sure now, together with all threads that ask meanwhile. What has failed is tried again. */
    public void requireReady() {
        ready.require();
    }

    private void check() {
        PrimaryProbe probe = new PrimaryProbe(dataSource);
        probe.verify();
        openingTime = probe.openingTime();
        ClaimTable table = new ClaimTable(dataSource);
        if (mode == DatabaseInitializationMode.ALWAYS) {
            table.create();
        }
        table.verify();
        replicas.start();
    }

    /**
     * Proves that claims can be kept at this moment: the server is a primary, and the table is there if claims have needed
     * it yet.
     *
     * @return the server's address
     */
    public String prove() {
        String server = new PrimaryProbe(dataSource).ask().address();
        if (isReady()) {
            new ClaimTable(dataSource).verify();
        }
        return server;
    }

    /** Returns how long it takes to open a connection, as the check found it; empty if there has been none. */
    public Optional<Duration> openingTime() {
        return Optional.ofNullable(openingTime);
    }

    /** Returns whether there are listeners, and claims can be kept. */
    public boolean isReady() {
        return ready.hasPassed();
    }

    /** Called before the monitor and the pool are closed, which the check uses. */
    @Override
    public void close() {
        start.close();
    }
}
