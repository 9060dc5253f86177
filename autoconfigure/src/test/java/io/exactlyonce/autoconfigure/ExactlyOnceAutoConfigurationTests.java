package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.awspring.cloud.sqs.config.SqsEndpoint;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.exactlyonce.ExactlyOnceEvent;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObservers;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.listener.ExactlyOnceContainerFactory;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.metrics.DeliveryMetrics;
import io.exactlyonce.metrics.RetentionMetrics;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.property.InvalidPropertyException;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.window.WindowObserver;
import io.exactlyonce.window.WindowWarning;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.jdbc.core.JdbcTemplate;

/** The wiring without a database: no bean connects before the first container is made. */
class ExactlyOnceAutoConfigurationTests {

    private static final String[] OBSERVABILITY = {
        "io.exactlyonce.actuate",
        "io.exactlyonce.audit",
        "io.exactlyonce.metrics",
        "io.exactlyonce.observe.",
        "io.exactlyonce.window"
    };
    private static final String[] POSTGRES = {"io.exactlyonce.claim.postgres", "io.exactlyonce.primary"};

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    JdbcTemplateAutoConfiguration.class,
                    ExactlyOnceAutoConfiguration.class,
                    ExactlyOnceObservabilityAutoConfiguration.class,
                    ExactlyOnceActuatorAutoConfiguration.class))
            .withPropertyValues("spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nowhere");

    @Test
    void startsWithoutConnectingAndWithoutMetersAndLeavesTheApplicationsDataSourceTheOnlyOne() {
        runner.run(context -> assertThat(context)
                .hasNotFailed()
                .hasSingleBean(ListenerEngine.class)
                .hasSingleBean(ExactlyOnceOperations.class)
                .hasSingleBean(ParkedKeys.class)
                .hasSingleBean(DataSource.class)
                .hasSingleBean(ClaimPool.class)
                .hasSingleBean(JdbcTemplate.class));
        runner.withClassLoader(new FilteredClassLoader(MeterRegistry.class))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(DeliveryObservers.class));
    }

    @Test
    void startsWithoutTheModuleThatObserves() {
        runner.withClassLoader(new FilteredClassLoader(OBSERVABILITY))
                .withBean(SimpleMeterRegistry.class)
                .withPropertyValues("exactly-once.audit.mode=off", "exactly-once.observation.opentelemetry-names=true")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(ListenerEngine.class)
                        .doesNotHaveBean("exactlyOnceWindowWatch")
                        .doesNotHaveBean("exactlyOnceQueueAudit"));
    }

    @Test
    void withoutTheModuleOfPostgresqlAStoreOfTheApplicationsOwnIsUsed() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class,
                        ExactlyOnceObservabilityAutoConfiguration.class,
                        ExactlyOnceActuatorAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader(POSTGRES))
                .withBean(ClaimStore.class, ScriptedStore::new)
                .withBean(SimpleMeterRegistry.class)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(ListenerEngine.class)
                        .hasSingleBean(DeliveryMetrics.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "dynamodb"})
    void storeWhoseModuleIsMissingFailsStartup(String store) {
        runner.withClassLoader(new FilteredClassLoader(POSTGRES))
                .withPropertyValues("exactly-once.claim.store=" + store)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOfSatisfying(
                                InvalidPropertyException.class,
                                missing -> assertThat(missing.problem() + missing.remedy())
                                        .contains("exactly-once.claim.store is " + store)
                                        .contains("add io.exactlyonce:exactly-once-" + store.replace("sql", ""))));
    }

    /** The check of the database waits for migrations, and a migration may be a bean that needs operations. */
    @Test
    void operationsAreMadeBeforeTheDatabaseIsInitialized() {
        List<String> made = new ArrayList<>();
        runner.withBean(BeanPostProcessor.class, () -> new BeanPostProcessor() {
                    @Override
                    public Object postProcessAfterInitialization(Object bean, String name) {
                        made.add(name);
                        return bean;
                    }
                })
                .withBean(
                        "early",
                        String.class,
                        () -> "asks",
                        definition -> definition.setDependsOn("exactlyOnceOperations"))
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(beans -> Stream.of(beans.getBeanDefinitionNames())
                                .filter(name -> name.startsWith("exactlyOnce"))
                                .forEach(name -> beans.getBeanDefinition(name).setLazyInit(true))))
                .run(context ->
                        assertThat(made).containsSubsequence("exactlyOnceOperations", "exactlyOnceClaimDatabase"));
    }

    @Test
    void expiredClaimsAreDeletedUnlessThatIsSwitchedOff() {
        runner.withBean(SimpleMeterRegistry.class)
                .run(context -> assertThat(context)
                        .hasBean(PostgresClaimsConfiguration.RETENTION)
                        .hasSingleBean(RetentionMetrics.class));
        runner.withBean(SimpleMeterRegistry.class)
                .withPropertyValues("exactly-once.claim.cleanup.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(PostgresClaimsConfiguration.RETENTION)
                        .doesNotHaveBean(RetentionMetrics.class));
    }

    @Test
    void whatObservedListenersNeedIsNotMadeWhereThereIsNone() {
        String[] beans = {"exactlyOnceObservedClaims", "exactlyOnceObservedCounts", "exactlyOnceObservedMetrics"};
        ApplicationContextRunner measured = runner.withBean(SimpleMeterRegistry.class);
        measured.run(context ->
                assertThat(context.getBeanFactory().getSingletonNames()).doesNotContain(beans));
        measured.run(context -> {
            assertThat(context.getBean(ObservedClaims.class)).isNotNull();
            assertThat(context.getBeanFactory().getSingletonNames()).contains(beans);
        });
    }

    /** One connection is reserved for renewals, and one for lookups. */
    @Test
    void claimsShareNoMoreTransactionsAtATimeThanThePoolHasConnectionsFor() {
        runner.run(context -> assertThat(context.getBean(GroupCommitSettings.class))
                .isEqualTo(new GroupCommitSettings(
                        2,
                        256,
                        Duration.ofSeconds(3),
                        "find out what slows it down, lower the concurrency of listeners, or raise"
                                + " exactly-once.datasource.connection-timeout if the database is distant")));
        runner.withPropertyValues("exactly-once.datasource.maximum-pool-size=2")
                .run(context -> assertThat(
                                context.getBean(GroupCommitSettings.class).flushers())
                        .isOne());
    }

    @Test
    void applicationsOwnStoreIsCalledByFlushersThatEndWithTheApplication() {
        AtomicReference<Thread> flusher = new AtomicReference<>();
        ScriptedStore own = new ScriptedStore();
        own.onClaim(() -> {
            flusher.set(Thread.currentThread());
            return new ClaimOutcome.Acquired(1, 1, false);
        });
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class, ExactlyOnceObservabilityAutoConfiguration.class))
                .withBean(ClaimStore.class, () -> own)
                .run(context -> {
                    ListenerEngine engine = context.getBean(ListenerEngine.class);
                    Delivery delivery = DeliveryRig.asking(
                            ListenerRig.delivery(),
                            new ClaimSpec(new ClaimKey("orders", "1"), null, InDoubtSettings.RERUN));
                    engine.deliveries().begin(List.of(delivery));
                    engine.pipeline().claim(List.of(delivery)).join();
                    assertThat(flusher.get().getName()).startsWith("exactly-once-claims-");
                    assertThat(flusher.get().isAlive()).isTrue();
                });
        assertThat(flusher.get().isAlive()).isFalse();
    }

    @Test
    void applicationsOwnStoreNeedsNoDatabase() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class,
                        ExactlyOnceObservabilityAutoConfiguration.class,
                        ExactlyOnceActuatorAutoConfiguration.class))
                .withBean(ClaimStore.class, ScriptedStore::new)
                .withBean(SimpleMeterRegistry.class)
                .run(context -> {
                    assertThat(context)
                            .hasNotFailed()
                            .doesNotHaveBean(DataSource.class)
                            .doesNotHaveBean(ParkedClaims.class)
                            .doesNotHaveBean(ParkedKeys.class)
                            .hasSingleBean(ExactlyOnceOperations.class)
                            .doesNotHaveBean(PostgresClaimsConfiguration.RETENTION)
                            .doesNotHaveBean(RetentionMetrics.class)
                            .hasSingleBean(DeliveryMetrics.class);
                    assertThat(context.getBean(ClaimStore.class)).isInstanceOf(ScriptedStore.class);
                    ExactlyOnceContainerFactory factory = context.getBean(ExactlyOnceContainerFactory.class);
                    assertThatThrownBy(() -> factory.createContainer(endpoint()))
                            .as("all that the first container lacks here is awspring's own factory")
                            .isInstanceOf(InvalidListenerException.class)
                            .hasMessageContaining(SqsMessageListenerContainerFactory.class.getSimpleName());
                });
    }

    /** A delivery that waits or ends while its application stops is renewed until its end. */
    @Test
    void renewalsBeginFirstAndEndAfterAllElseThatTicks() {
        List<String> ticks = new ArrayList<>();
        EngineScheduler scheduler = mock();
        when(scheduler.every(any(), any(), any())).then(call -> {
            String thread = call.getArgument(1);
            ticks.add("begin " + thread);
            return (EngineScheduler.PeriodicTask) () -> ticks.add("end " + thread);
        });

        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class, ExactlyOnceObservabilityAutoConfiguration.class))
                .withBean(ClaimStore.class, ScriptedStore::new)
                .withBean(EngineScheduler.class, () -> scheduler)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(ticks)
                .containsExactly(
                        "begin exactly-once-renewal-1",
                        "begin exactly-once-renewal-2",
                        "begin exactly-once-watch-1",
                        "begin exactly-once-audit-1",
                        "end exactly-once-audit-1",
                        "end exactly-once-watch-1",
                        "end exactly-once-renewal-2",
                        "end exactly-once-renewal-1");
    }

    @Test
    void breachOfAVisibilityTimeoutIsReportedToTheApplicationsObserverAndPublishedAsAnEvent() {
        Queue<WindowWarning.Kind> told = new ConcurrentLinkedQueue<>();
        Queue<Object> published = new ConcurrentLinkedQueue<>();
        EngineScheduler scheduler = mock();
        AtomicLong seconds = new AtomicLong();
        when(scheduler.nanoTime()).then(call -> TimeUnit.SECONDS.toNanos(seconds.incrementAndGet()));
        when(scheduler.every(any(), any(), any())).thenReturn(() -> {});
        Subscription orders =
                new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceAutoConfiguration.class, ExactlyOnceObservabilityAutoConfiguration.class))
                .withBean(ClaimStore.class, ScriptedStore::new)
                .withBean(EngineScheduler.class, () -> scheduler)
                .withBean(WindowObserver.class, () -> (subscription, warning) -> told.add(warning.kind()))
                .withInitializer(context -> context.addApplicationListener(
                        ApplicationListener.<ExactlyOnceEvent.WindowBreached>forPayload(published::add)))
                .run(context -> {
                    DeliveryObservers observers = context.getBean(DeliveryObservers.class);
                    for (int delivery = 0; delivery < 300; delivery++) {
                        observers.on(new DeliveryEvent.Delivered(
                                orders, orders.settings().window(), Duration.ofSeconds(35)));
                    }
                    assertThat(told).containsExactly(WindowWarning.Kind.BREACHED);
                    await().untilAsserted(() -> assertThat(published)
                            .singleElement()
                            .isInstanceOfSatisfying(
                                    ExactlyOnceEvent.WindowBreached.class,
                                    breach -> assertThat(breach.queue()).isEqualTo("orders")));
                });
    }

    @Test
    void backsOffWithoutSqs() {
        runner.withPropertyValues("spring.cloud.aws.sqs.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ListenerEngine.class));
    }

    private static SqsEndpoint endpoint() {
        return SqsEndpoint.builder()
                .id("fulfilment")
                .queueNames(List.of("orders"))
                .factoryBeanName("factory")
                .build();
    }
}
