package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.history.Fault;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The primary dies, its replica is promoted, and the new primary gets a new replica.
 *
 * @param asynchronous whether the replica lacks the last commits, because it was cut off and commits did not wait for
 *     it
 * @param unreplicated how long commits continued that the replica lacks
 */
record FailOver(boolean asynchronous, Duration unreplicated) implements Disturbance {

    @Override
    public void strike(Targets targets) throws IOException, SQLException, InterruptedException {
        targets.log().beganFailover(asynchronous);
        if (asynchronous) {
            targets.database().setSynchronous(false);
            targets.database().detachReplica();
            TimeUnit.MILLISECONDS.sleep(unreplicated.toMillis());
        }
        targets.database().killPrimary();
        targets.database().promote();
        targets.fleet().resetDatabaseWires();
        targets.log().ended(Fault.FAILOVER);
        targets.database().addReplica();
    }

    @Override
    public Duration length() {
        return Duration.ofSeconds(4);
    }
}
