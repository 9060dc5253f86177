package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.metrics.ExactlyOnceMetrics;
import io.exactlyonce.metrics.ReplicaLagMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ExactlyOnceMetricsAutoConfigurationTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(ExactlyOnceMetricsAutoConfiguration.class));

    @Test
    void registryIsUsed() {
        application
                .withBean(SimpleMeterRegistry.class)
                .run(context -> assertThat(context)
                        .hasSingleBean(ExactlyOnceMetrics.class)
                        .hasSingleBean(ReplicaLagMeters.class));
    }

    @Test
    void backsOffWithoutARegistry() {
        application.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ExactlyOnceMetrics.class));
    }

    @Test
    void backsOffWithoutMicrometer() {
        application
                .withClassLoader(new FilteredClassLoader(MeterRegistry.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ExactlyOnceMetrics.class));
    }

    @Test
    void backsOffForTheApplicationsOwn() {
        ExactlyOnceMetrics own = new ExactlyOnceMetrics(new SimpleMeterRegistry());

        application
                .withBean(SimpleMeterRegistry.class)
                .withBean("own", ExactlyOnceMetrics.class, () -> own)
                .run(context ->
                        assertThat(context.getBean(ExactlyOnceMetrics.class)).isSameAs(own));
    }
}
