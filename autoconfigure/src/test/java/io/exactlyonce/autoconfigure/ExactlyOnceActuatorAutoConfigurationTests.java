package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoInteractions;
import static org.mockito.Mockito.when;

import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.metrics.ClaimDatabaseMetrics;
import io.exactlyonce.metrics.DeliveryMetrics;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
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
    void parkedKeysAreCountedOnlyWhenTheStoreIsReady() {
        ParkedClaims parked = mock();
        ClaimBackend backend = mock();
        List<Runnable> periodic = new ArrayList<>();
        EngineScheduler scheduler = mock();
        when(scheduler.every(any(), any(), any())).thenAnswer(call -> {
            periodic.add(call.getArgument(2));
            return (EngineScheduler.PeriodicTask) () -> {};
        });

        application
                .withPropertyValues("management.health.exactly-once.enabled=false")
                .withBean(SimpleMeterRegistry.class)
                .withBean(ParkedClaims.class, () -> parked)
                .withBean(ClaimBackend.class, () -> backend)
                .withBean(EngineScheduler.class, () -> scheduler)
                .run(context -> {
                    assertThat(periodic).hasSize(1);
                    periodic.forEach(Runnable::run);
                    verifyNoInteractions(parked);

                    when(backend.isReady()).thenReturn(true);
                    periodic.forEach(Runnable::run);
                    verify(parked).count();
                });
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
