package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.actuate.ClaimHealthIndicator;
import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.clock.ClockMode;
import io.exactlyonce.dynamodb.clock.ServiceClock;
import org.springframework.boot.health.contributor.Health;

/**
 * Whether the table answers. Without a sound clock claims go on, and only takeovers of keys whose holder vanished are later: a
 * detail, and no reason to restart anything.
 */
record ClaimTableHealth(DynamoDbClaims claims, ServiceClock clock, ClockMode mode)
        implements ClaimHealthIndicator.Store {

    @Override
    public void prove(Health.Builder details) {
        claims.probe();
        ServiceClock.State state = clock.state();
        details.withDetail(
                        "takeover",
                        mode == ClockMode.SERVICE && state == ServiceClock.State.MEASURED
                                ? "by clock"
                                : "by observation")
                .withDetail("clock", state.reason());
        clock.uncertaintySeconds().ifPresent(seconds -> details.withDetail("clockUncertaintySeconds", seconds));
    }
}
