package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.exactlyonce.metrics.ClaimDatabaseMetrics;
import io.exactlyonce.metrics.DeliveryMetrics;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ExactlyOnceActuatorAutoConfigurationTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withBean(WindowWatch.class, () -> new WindowWatch(true, List.of(), () -> 0))
            .withConfiguration(AutoConfigurations.of(ExactlyOnceActuatorAutoConfiguration.class));

    @Test
    void registryIsUsed() {
        application
                .withBean(SimpleMeterRegistry.class)
                .run(context -> assertThat(context)
                        .hasSingleBean(DeliveryMetrics.class)
                        .doesNotHaveBean(ClaimDatabaseMetrics.class));
    }

    @Test
    void databaseIsMeasuredWhereClaimsUseOne() {
        application
                .withBean(SimpleMeterRegistry.class)
                .withBean(ClaimPool.class, () -> ClaimPool.around(mock(), 1))
                .run(context -> assertThat(context).hasSingleBean(ClaimDatabaseMetrics.class));
    }

    @Test
    void backsOffWithoutARegistry() {
        application.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(DeliveryMetrics.class));
    }

    @Test
    void backsOffWithoutMicrometer() {
        application
                .withClassLoader(new FilteredClassLoader(MeterRegistry.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(DeliveryMetrics.class));
    }
}
