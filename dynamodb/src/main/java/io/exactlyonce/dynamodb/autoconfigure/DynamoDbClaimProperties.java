package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.dynamodb.clock.ClockMode;
import io.exactlyonce.property.Bounds;
import io.exactlyonce.property.InvalidPropertyException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Claims in DynamoDB. The client has the endpoint, Region and credentials of {@code spring.cloud.aws}.
 *
 * @param tableName Name of the claim table.
 * @param clock Advanced: clock by which the lease of a dead worker expires: 'service' reads the Date of DynamoDB's
 *     responses, 'observed' watches a claim for a whole lease.
 * @param clockError Advanced: largest difference between the clocks of DynamoDB's front ends, from 1500ms to 60s. Takeovers are
 *     delayed by this time.
 * @param initializeSchema Creation of a missing claim table at startup: 'embedded' creates it if the endpoint is on this machine,
 *     'always' creates it, 'never' does not.
 */
@ConfigurationProperties("exactly-once.dynamodb")
public record DynamoDbClaimProperties(
        @DefaultValue("exactly-once-claim") String tableName,
        @DefaultValue("service") ClockMode clock,
        @DefaultValue("2s") Duration clockError,
        @DefaultValue("embedded") DatabaseInitializationMode initializeSchema) {

    private static final Pattern TABLE_NAME = Pattern.compile("[A-Za-z0-9_.-]{3,255}");
    private static final Duration SMALLEST_ERROR = Duration.ofMillis(1_500);
    private static final Duration LARGEST_ERROR = Duration.ofSeconds(60);

    public DynamoDbClaimProperties {
        if (!TABLE_NAME.matcher(tableName).matches()) {
            throw new InvalidPropertyException(
                    "exactly-once.dynamodb.table-name",
                    ("exactly-once.dynamodb.table-name (%s) must have 3 to 255 characters out of letters, digits, '_', '-' and"
                                    + " '.'")
                            .formatted(tableName),
                    "give the table's name, not its ARN");
        }
        Bounds.require("exactly-once.dynamodb.clock-error", clockError, SMALLEST_ERROR, LARGEST_ERROR);
    }
}
