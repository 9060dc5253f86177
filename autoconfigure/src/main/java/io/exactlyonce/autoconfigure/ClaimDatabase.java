package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.postgres.ClaimSchemaInitializer;
import io.exactlyonce.claim.postgres.ClaimSchemaProbe;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.primary.PrimaryProbe;
import io.exactlyonce.primary.ReplicaLagMonitor;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Makes sure, before the first container is made, that claims can be kept: the server is a primary, and the table is
 * there. By then all database migrations of the application have run; an application without exactly-once listeners opens
 * no connection.
 */
final class ClaimDatabase {

    private final PrimaryPinnedDataSource dataSource;
    private final DatabaseInitializationMode mode;
    private final ReplicaLagMonitor replicas;
    private volatile boolean ready;

    ClaimDatabase(PrimaryPinnedDataSource dataSource, DatabaseInitializationMode mode, ReplicaLagMonitor replicas) {
        this.dataSource = dataSource;
        this.mode = mode;
        this.replicas = replicas;
    }

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
