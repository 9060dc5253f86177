package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.exactlyonce.dynamodb.request.ThrottledRequests;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;

/** The meters of claims in DynamoDB, without a client. */
public final class DynamoDbMeters {

    private DynamoDbMeters() {}

    public static void bindTo(MeterRegistry registry) {
        new DynamoDbClaimsAutoConfiguration.Meters()
                .exactlyOnceDynamoDbMeters(new ServiceClock(() -> 0, Duration.ofSeconds(2)), new ThrottledRequests())
                .bindTo(registry);
    }
}
