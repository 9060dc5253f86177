package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.backend.ReadinessCheck;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.PrimaryCheck;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * The PostgreSQL database that keeps the claims. Before the first claim, checks that its server is a primary, and that
 * the claim table can be used.
 */
public final class ClaimDatabase implements ClaimBackend, AutoCloseable {

    private final ClaimPool pool;
    private final PrimaryCheck primary;
    private final ClaimTable table;
    private final ClaimSchema schema;
    private final DatabaseInitializationMode mode;
    private final Runnable whenReady;
    private final ReadinessCheck readiness;

    /**
     * Creates the claim database. Nothing is checked before {@link #beginCheck}.
     *
     * @param pool connects to the claim database
     * @param mode {@code ALWAYS} to create the table if it is missing, {@code NEVER} to change nothing
     * @param whenReady runs after the check has passed; must not throw
     */
    public ClaimDatabase(ClaimPool pool, ClaimTable table, DatabaseInitializationMode mode, Runnable whenReady) {
        this.pool = pool;
        this.primary = new PrimaryCheck(pool);
        this.table = table;
        this.schema = new ClaimSchema(table);
        this.mode = mode;
        this.whenReady = whenReady;
        // The pool's target is not read here, but at the first check, because reading it may create the application's
        // DataSource.
        this.readiness = new ReadinessCheck(pool::target, this::check);
    }

    @Override
    public void beginCheck() {
        readiness.begin();
    }

    @Override
    public void requireReady() {
        readiness.require();
    }

    private void check() {
        primary.verify();
        if (mode == DatabaseInitializationMode.ALWAYS) {
            schema.create();
        }
        schema.verify();
        whenReady.run();
    }

    @Override
    public String description() {
        return pool.target() + " (primary)";
    }

    /**
     * Checks in one round trip that the server is a primary. Once the check at startup has passed, also checks that the
     * claim table still exists.
     *
     * @return the server's address
     */
    @Override
    public Map<String, Object> prove() {
        PrimaryCheck.Proof proof = primary.prove(isReady() ? table.sql("{table}") : table.name());
        if (isReady() && !proof.hasTable()) {
            schema.verify();
        }
        return Map.of("primary", proof.server().address());
    }

    @Override
    public Optional<Duration> connectionTimeout() {
        return pool.chosenTimeout();
    }

    @Override
    public Optional<Duration> shortestConnectTime() {
        return pool.shortestConnectTime();
    }

    @Override
    public boolean isReady() {
        return readiness.hasPassed();
    }

    @Override
    public void close() {
        readiness.close();
    }
}
