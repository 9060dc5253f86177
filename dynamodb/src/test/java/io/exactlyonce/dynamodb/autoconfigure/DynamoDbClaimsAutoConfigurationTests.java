package io.exactlyonce.dynamodb.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration;
import io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration;
import io.awspring.cloud.autoconfigure.core.RegionProviderAutoConfiguration;
import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import io.exactlyonce.autoconfigure.ExactlyOnceObservabilityAutoConfiguration;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.dynamodb.DynamoDbClaimStore;
import io.exactlyonce.dynamodb.DynamoDbCompletion;
import io.exactlyonce.dynamodb.table.ClaimTableException;
import io.exactlyonce.dynamodb.testing.LocalDynamoDb;
import io.exactlyonce.property.InvalidPropertyException;
import io.exactlyonce.test.InMemoryClaimStore;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.mock.env.MockEnvironment;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

class DynamoDbClaimsAutoConfigurationTests {

    private final String table = "claims-" + UUID.randomUUID();
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DynamoDbClaimsAutoConfiguration.class,
                    AwsAutoConfiguration.class,
                    CredentialsProviderAutoConfiguration.class,
                    RegionProviderAutoConfiguration.class))
            .withPropertyValues(
                    "exactly-once.claim.store=dynamodb",
                    "exactly-once.dynamodb.table-name=" + table,
                    "spring.cloud.aws.dynamodb.endpoint="
                            + LocalDynamoDb.shared().endpoint(),
                    "spring.cloud.aws.region.static=us-east-1",
                    "spring.cloud.aws.credentials.access-key=x",
                    "spring.cloud.aws.credentials.secret-key=x");

    @Test
    void storeTakesClaimsOfManyThreadsTogetherAndLeavesTheApplicationsClientAlone() {
        application.run(context -> assertThat(context)
                .hasSingleBean(DynamoDbClaimStore.class)
                .hasSingleBean(GroupCommitSettings.class)
                .hasSingleBean(DynamoDbCompletion.class)
                .hasBean(DynamoDbClaimsAutoConfiguration.CLIENT));
    }

    @Test
    void backendIsDescribedByTableAndRegion() {
        application.run(
                context -> assertThat(context.getBean(ClaimBackend.class).description())
                        .isEqualTo("DynamoDB table %s in us-east-1".formatted(table)));
    }

    @Test
    void backsOffUnlessAskedFor() {
        application
                .withPropertyValues("exactly-once.claim.store=postgresql")
                .run(context -> assertThat(context).doesNotHaveBean(ClaimStore.class));
    }

    @Test
    void backsOffWhereTheApplicationHasAStoreOfItsOwn() {
        application
                .withBean(InMemoryClaimStore.class)
                .run(context ->
                        assertThat(context).hasSingleBean(ClaimStore.class).doesNotHaveBean(DynamoDbAsyncClient.class));
    }

    @Test
    void withoutListenersTheTableIsNeitherCheckedNorCreatedBeforeClaimsNeedIt() {
        application
                .withPropertyValues("exactly-once.dynamodb.initialize-schema=always")
                .run(context -> {
                    ClaimBackend backend = context.getBean(ClaimBackend.class);
                    assertThat(context).hasNotFailed();
                    assertThat(tables()).doesNotContain(table);
                    assertThatCode(backend::prove)
                            .as("the service answers, and nothing has needed the table")
                            .doesNotThrowAnyException();

                    backend.requireReady();

                    assertThat(tables()).contains(table);
                    assertThat(backend.prove()).containsKey("takeover");
                });
    }

    @Test
    void missingTableIsReportedToWhatNeedsIt() {
        application
                .withPropertyValues("exactly-once.dynamodb.initialize-schema=never")
                .run(context -> assertThatThrownBy(context.getBean(ClaimBackend.class)::requireReady)
                        .isInstanceOfSatisfying(
                                ClaimTableException.class,
                                missing -> assertThat(missing.problem()).contains(table, "does not exist")));
    }

    @Test
    void tableThatIsGoneAfterItsCheckIsReported() {
        application
                .withPropertyValues("exactly-once.dynamodb.initialize-schema=always")
                .run(context -> {
                    ClaimBackend backend = context.getBean(ClaimBackend.class);
                    backend.requireReady();
                    LocalDynamoDb.shared()
                            .client()
                            .deleteTable(request -> request.tableName(table))
                            .join();

                    assertThatThrownBy(backend::prove).isInstanceOf(ClaimStoreUnavailableException.class);
                });
    }

    @Test
    void tableThatIsThereIsTakenAsItIs() {
        application
                .withPropertyValues("exactly-once.dynamodb.initialize-schema=always")
                .run(first -> {
                    first.getBean(ClaimBackend.class).requireReady();
                    application.run(second -> second.getBean(ClaimBackend.class).requireReady());
                });
    }

    @Test
    void serviceThatCannotBeReachedIsReported() {
        application
                .withPropertyValues(
                        "exactly-once.dynamodb.initialize-schema=always",
                        "spring.cloud.aws.dynamodb.endpoint=http://127.0.0.1:1")
                .run(context -> {
                    ClaimBackend backend = context.getBean(ClaimBackend.class);
                    assertThatThrownBy(backend::requireReady)
                            .isInstanceOfSatisfying(
                                    ClaimTableException.class,
                                    failed -> assertThat(failed.remedy())
                                            .contains("dynamodb:DescribeTable", "check endpoint"));
                    assertThatThrownBy(backend::prove).isInstanceOf(ClaimStoreUnavailableException.class);
                });
    }

    @Test
    void resultsThatFitIntoNoItemFailStartup() {
        application
                .withPropertyValues("exactly-once.claim.max-result-size=381KB")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(ExactlyOnceSetupException.class)
                        .hasMessageContaining("exactly-once.claim.max-result-size (390144 bytes)")
                        .hasMessageContaining("380KB"));
    }

    @ParameterizedTest
    @CsvSource({
        "clock-error=1499ms, clock-error (1499ms) must be from 1500ms to 1m",
        "clock-error=61s, clock-error (61s) must be from 1500ms to 1m",
        "clock-error=2, clock-error (2ms) must be from 1500ms to 1m",
        "table-name=a, table-name (a) must have 3 to 255 characters",
        "table-name=arn:aws:dynamodb:eu-west-1:1:table/claims, not its ARN"
    })
    void wrongPropertyFailsStartup(String property, String message) {
        application
                .withPropertyValues("exactly-once.dynamodb." + property)
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining(message));
    }

    @Test
    void nameThatNothingReadsFailsStartup() {
        application
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class, ExactlyOnceObservabilityAutoConfiguration.class))
                .withPropertyValues("exactly-once.dynamodb.table=claims")
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidPropertyException.class)
                        .hasMessageStartingWith("Nothing reads exactly-once.dynamodb.table (set by "));
    }

    @Test
    void driverOrAnotherStoreLeavesTheDataSourceToBoot() {
        var filter = new NoDriverFilter();
        String[] candidates = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration", null, "another.AutoConfiguration"
        };
        filter.setBeanClassLoader(getClass().getClassLoader());

        assertThat(filter.match(candidates, null)).containsExactly(true, true, true);
        filter.setEnvironment(new MockEnvironment().withProperty("exactly-once.claim.store", "postgresql"));
        assertThat(filter.match(candidates, null)).containsExactly(true, true, true);
        filter.setEnvironment(new MockEnvironment().withProperty("exactly-once.claim.store", "dynamodb"));
        assertThat(filter.match(candidates, null)).containsExactly(false, true, true);
        filter.setBeanClassLoader(new DriverOnPath());
        assertThat(filter.match(candidates, null)).containsExactly(true, true, true);
    }

    private static List<String> tables() {
        List<String> names = new ArrayList<>();
        LocalDynamoDb.shared()
                .client()
                .listTablesPaginator()
                .tableNames()
                .subscribe(names::add)
                .join();
        return names;
    }
}
