package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.postgres.ClaimSchemaInitializer;
import io.exactlyonce.claim.postgres.ClaimSchemaProbe;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.primary.PrimaryProbe;
import io.exactlyonce.primary.ReplicaLagMonitor;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Makes sure, before the first container polls, that claims can be kept: the server is a primary, and the table is there.
 * That begins with the first container, when all database migrations of the application have run, and goes on beside the
 * rest of the start: containers look their queues up meanwhile. An application without exactly-once listeners opens no
 * connection.
 */
final class ClaimDatabase implements AutoCloseable {

    private final PrimaryPinnedDataSource dataSource;
    private final DatabaseInitializationMode mode;
    private final ReplicaLagMonitor replicas;
    private final StartUpCheck check = new StartUpCheck(this::requireReady);
    private volatile boolean ready;

    ClaimDatabase(PrimaryPinnedDataSource dataSource, DatabaseInitializationMode mode, ReplicaLagMonitor replicas) {
        this.dataSource = dataSource;
        this.mode = mode;
        this.replicas = replicas;
    }

    /** Begins, and does not wait. */
    void beginCheck() {
        check.begin();
    }

    /** Returns when claims can be kept, or throws why they cannot: what {@link #requireReady()} threw once. */
    void awaitCheck() {
        check.await();
    }

    /** Makes sure now. What has failed is tried again. */
    synchronized void requireReady() {
        if (ready) {
            return;
        }
        new PrimaryProbe(dataSource).verify();
        initialize();
        new ClaimSchemaProbe(dataSource).verify();
        replicas.start();
        ready = true;
    }

    /** Tells whether there are listeners, and claims can be kept. */
    boolean isReady() {
        return ready;
    }

    /** Called before the monitor and the pool are closed, which the check uses. */
    @Override
    public void close() {
        check.close();
    }

    private void initialize() {
        InitializingBean initializer = new ClaimSchemaInitializer(dataSource, mode);
        try {
            initializer.afterPropertiesSet();
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            throw new IllegalStateException("Creating the claim table failed", failure);
        }
    }
}
