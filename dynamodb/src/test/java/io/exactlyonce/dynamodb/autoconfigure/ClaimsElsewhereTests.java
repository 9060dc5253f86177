package io.exactlyonce.dynamodb.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration;
import io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration;
import io.awspring.cloud.autoconfigure.core.RegionProviderAutoConfiguration;
import io.awspring.cloud.autoconfigure.sqs.SqsAutoConfiguration;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import io.exactlyonce.autoconfigure.ExactlyOnceObservabilityAutoConfiguration;
import io.exactlyonce.property.InvalidPropertyException;
import io.exactlyonce.test.InMemoryClaimStore;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Tests applications whose profile or test uses another claim store, and the same configuration otherwise. */
class ClaimsElsewhereTests {

    private final ApplicationContextRunner elsewhere = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DynamoDbClaimsAutoConfiguration.class,
                    ExactlyOnceAutoConfiguration.class,
                    ExactlyOnceObservabilityAutoConfiguration.class,
                    SqsAutoConfiguration.class,
                    AwsAutoConfiguration.class,
                    CredentialsProviderAutoConfiguration.class,
                    RegionProviderAutoConfiguration.class))
            .withBean(InMemoryClaimStore.class)
            .withPropertyValues(
                    "exactly-once.claim.store=dynamodb",
                    "spring.cloud.aws.region.static=us-east-1",
                    "spring.cloud.aws.credentials.access-key=x",
                    "spring.cloud.aws.credentials.secret-key=x");

    @Test
    void propertiesOfTheTableFailNoStartup() {
        elsewhere
                .withPropertyValues("exactly-once.dynamodb.table-name=claims", "exactly-once.dynamodb.clock-error=3s")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void misspeltOneDoes() {
        elsewhere
                .withPropertyValues("exactly-once.dynamodb.table=claims")
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidPropertyException.class)
                        .hasMessageStartingWith("Nothing reads exactly-once.dynamodb.table (set by "));
    }
}
