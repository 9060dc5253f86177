package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.history.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The primary's disk is full for a while. Skipped if the primary has no separate disk. */
record FillDisk(Duration length) implements Disturbance {

    @Override
    public void strike(Targets targets) throws IOException, InterruptedException {
        if (!targets.database().canFillDisk()) {
            return;
        }
        targets.log().began(Fault.DISK_FULL);
        try {
            targets.database().fillDisk();
            TimeUnit.MILLISECONDS.sleep(length.toMillis());
        } finally {
            targets.database().freeDisk();
            targets.log().ended(Fault.DISK_FULL);
        }
    }
}
