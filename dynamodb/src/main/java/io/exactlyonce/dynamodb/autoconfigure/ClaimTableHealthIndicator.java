package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.clock.ClockMode;
import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.exactlyonce.dynamodb.clock.Soundness;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Up while the table answers. Without a sound clock claims go on, and only takeovers of keys whose holder vanished are later: a
 * detail, and no reason to restart anything.
 */
final class ClaimTableHealthIndicator extends AbstractHealthIndicator {

    private final DynamoDbClaims claims;
    private final ServiceClock clock;
    private final ClockMode mode;

    ClaimTableHealthIndicator(DynamoDbClaims claims, ServiceClock clock, ClockMode mode) {
        super("The table of claims does not answer");
        this.claims = claims;
        this.clock = clock;
        this.mode = mode;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        claims.probe();
        Soundness soundness = clock.soundness();
        builder.up()
                .withDetail(
                        "takeover",
                        mode == ClockMode.SERVICE && soundness == Soundness.SOUND ? "by clock" : "by observation")
                .withDetail("clock", soundness.reason());
        clock.uncertaintySeconds().ifPresent(seconds -> builder.withDetail("clockUncertaintySeconds", seconds));
    }
}
