package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.history.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The primary is killed with all of its backends, and restarted after a while. */
record RestartPrimary(Duration length) implements Disturbance {

    @Override
    public void strike(Targets targets) throws IOException, InterruptedException {
        targets.log().began(Fault.DATABASE_RESTART);
        targets.database().killPrimary();
        try {
            TimeUnit.MILLISECONDS.sleep(length.toMillis());
        } finally {
            targets.database().startPrimary();
            targets.log().ended(Fault.DATABASE_RESTART);
        }
    }
}
