package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.dynamodb.ServiceFault;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** DynamoDB has a fault for a while. */
record DisturbDynamoDb(ServiceFault fault, Duration length) implements Disturbance {

    @Override
    public void strike(Targets targets) throws InterruptedException {
        targets.log().began(fault.recorded());
        targets.dynamoDb().begin(fault);
        try {
            TimeUnit.MILLISECONDS.sleep(length.toMillis());
        } finally {
            targets.dynamoDb().end(fault);
            targets.log().ended(fault.recorded());
        }
    }
}
