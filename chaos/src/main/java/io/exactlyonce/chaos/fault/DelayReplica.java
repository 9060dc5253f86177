package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.history.Fault;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The replica, from which workers read, shows commits late. */
record DelayReplica(Duration delay, Duration length) implements Disturbance {

    @Override
    public void strike(Targets targets) throws InterruptedException {
        targets.log().began(Fault.REPLICA_LAG);
        targets.database().delayReplica(delay);
        try {
            TimeUnit.MILLISECONDS.sleep(length.toMillis());
        } finally {
            targets.database().delayReplica(Duration.ZERO);
            targets.log().ended(Fault.REPLICA_LAG);
        }
    }
}
