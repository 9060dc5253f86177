package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.history.Fault;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** SQS does not answer for longer than visibility timeout and lease. */
record FreezeSqs(Duration length) implements Disturbance {

    @Override
    public void strike(Targets targets) throws InterruptedException {
        targets.log().began(Fault.SQS_RESTART);
        targets.sqs().freeze();
        try {
            TimeUnit.MILLISECONDS.sleep(length.toMillis());
        } finally {
            targets.sqs().thaw();
            targets.log().ended(Fault.SQS_RESTART);
        }
    }
}
