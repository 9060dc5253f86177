package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.config.SqsEndpoint;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.waiting.StoreCircuitBreakers;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedStore;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.mock.env.MockEnvironment;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

@ExtendWith(OutputCaptureExtension.class)
class ExactlyOnceContainerFactoryTests {

    static class Listener {
        void handle(String order) {}
    }

    private static final class NoClient implements SqsAsyncClient {
        @Override
        public String serviceName() {
            return "sqs";
        }

        @Override
        public void close() {}
    }

    private final ExactlyOnceContainerFactory factory = new ExactlyOnceContainerFactoryConfigurer(
                    new StandardEnvironment(), () -> {
                        throw new IllegalStateException("the database was asked");
                    })
            .prepareDefault(new DefaultListableBeanFactory());
    private final MockEnvironment environment = new MockEnvironment();
    private Runnable readiness = () -> {};

    @Test
    void databaseIsAskedBeforeTheContainerIsMade() {
        assertThatThrownBy(() -> factory.createContainer(endpoint("orders"))).hasMessage("the database was asked");
    }

    @Test
    void containerThatStartsWithTheApplicationDoesNotWaitForTheDatabase() {
        readiness = () -> {
            throw new AssertionError("its message source waits, not its factory");
        };

        assertThat(options(configured -> {}).isAutoStartup()).isTrue();
    }

    @Test
    void containerThatIsStartedLaterDoesNotHideADatabaseThatCannotKeepClaims() {
        readiness = () -> {
            throw new IllegalStateException("a replica");
        };

        assertThatThrownBy(() -> options(configured -> configured.autoStartup(false)))
                .hasMessage("a replica");
    }

    @Test
    void containerWithoutAListenerMethodIsRefused() {
        assertThatThrownBy(() -> factory.createContainer("orders"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("@ExactlyOnceListener");
    }

    @Test
    void applicationsFactoryKeepsItsOptionsButForItsAcknowledgementMode(CapturedOutput output) {
        SqsContainerOptions options = options(
                configured -> configured.maxConcurrentMessages(50).acknowledgementMode(AcknowledgementMode.ALWAYS));

        assertThat(options.getMaxConcurrentMessages()).isEqualTo(50);
        assertThat(options.getAcknowledgementMode()).isEqualTo(AcknowledgementMode.ON_SUCCESS);
        assertThat(output).contains("'fulfilment' does without its container factory's acknowledgement mode ALWAYS");
    }

    @Test
    void factoryThatAcknowledgesAfterSuccessNeedsNoWord(CapturedOutput output) {
        options(configured -> {});

        assertThat(output).doesNotContain("acknowledgement mode");
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void handlersRunOnVirtualThreadsIfTheApplicationAsksForThem() {
        environment.setProperty("spring.threads.virtual.enabled", "true");

        assertThat(options(configured -> {}).getComponentsTaskExecutor())
                .isInstanceOfSatisfying(
                        SimpleAsyncTaskExecutor.class,
                        threads -> assertThat(threads.getThreadNamePrefix()).isEqualTo("fulfilment-"));
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_20)
    void threadsStayAwspringsOnJavaThatHasNoVirtualOnes() {
        environment.setProperty("spring.threads.virtual.enabled", "true");

        assertThat(options(configured -> {}).getComponentsTaskExecutor()).isNull();
    }

    @Test
    void threadsStayAwspringsUnlessTheApplicationAsksForVirtualOnes() {
        assertThat(options(configured -> {}).getComponentsTaskExecutor()).isNull();
    }

    @Test
    void applicationsOwnExecutorStays() {
        environment.setProperty("spring.threads.virtual.enabled", "true");
        SimpleAsyncTaskExecutor own = new SimpleAsyncTaskExecutor();

        assertThat(options(configured -> configured.componentsTaskExecutor(own)).getComponentsTaskExecutor())
                .isSameAs(own);
    }

    private SqsContainerOptions options(Consumer<SqsContainerOptionsBuilder> configured) {
        DeliveryObserver noObserver = new DeliveryObserver() {};
        FakeClock clock = new FakeClock();
        RenewalSupervisor supervisor = new RenewalSupervisor(
                new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0);
        RetryBackoff backoff = new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5));
        Deliveries deliveries = new Deliveries(supervisor, noObserver, backoff, clock, () -> 0, 10);
        return new ExactlyOnceContainerFactoryConfigurer(
                        environment,
                        () -> new ListenerEngine(
                                ListenerRig.engine(deliveries).pipeline(),
                                deliveries,
                                new StoreCircuitBreakers(noObserver),
                                noObserver,
                                clock,
                                queue -> {},
                                ListenerRig.START_LINE,
                                readiness))
                .prepare(SqsMessageListenerContainerFactory.builder()
                        .sqsAsyncClient(new NoClient())
                        .configure(configured)
                        .build())
                .createContainer(endpoint("orders"))
                .getContainerOptions();
    }

    private static SqsEndpoint endpoint(String... queues) {
        SqsEndpoint endpoint = SqsEndpoint.builder()
                .id("fulfilment")
                .queueNames(List.of(queues))
                .factoryBeanName("factory")
                .build();
        endpoint.setBean(new Listener());
        endpoint.setMethod(ListenerRig.method(Listener.class, "handle"));
        endpoint.setHandlerMethodFactory(new DefaultMessageHandlerMethodFactory());
        return endpoint;
    }
}
