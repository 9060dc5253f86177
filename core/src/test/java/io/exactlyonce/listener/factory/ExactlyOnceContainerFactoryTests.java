package io.exactlyonce.listener.factory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.config.Endpoint;
import io.awspring.cloud.sqs.config.MessageListenerContainerFactory;
import io.awspring.cloud.sqs.config.SqsEndpoint;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.QueueNotFoundStrategy;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.StandardSqsComponentFactory;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.awspring.cloud.sqs.listener.errorhandler.ErrorHandler;
import io.awspring.cloud.sqs.listener.interceptor.AsyncMessageInterceptor;
import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.ExactlyOnceContainerFactory;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.container.ConsumerComponents;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.listener.observed.ObservedListeners;
import io.exactlyonce.listener.startup.ListenerRegistry;
import io.exactlyonce.listener.startup.PlainListeners;
import io.exactlyonce.listener.startup.SharedPools;
import io.exactlyonce.listener.startup.SharedQueues;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.ScriptedStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.BeanUtils;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.mock.env.MockEnvironment;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

@ExtendWith(OutputCaptureExtension.class)
class ExactlyOnceContainerFactoryTests {

    static class Listener {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(String order) {}
    }

    static class Plain {
        void handle(String order) {}
    }

    private final MockEnvironment environment = new MockEnvironment();
    private final ListenerRegistry listeners = new ListenerRegistry();
    private final SharedQueues queues = new SharedQueues(listeners);
    private Runnable check = () -> {};
    private Runnable readiness = () -> {};

    @Test
    void databaseIsCheckedWithTheFirstContainer() {
        check = () -> {
            throw new IllegalStateException("the database was asked");
        };

        assertThatThrownBy(() -> options(configured -> {})).hasMessage("the database was asked");
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
        assertThatThrownBy(() -> prepare(original -> {}).createContainer("orders"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("@ExactlyOnceListener");
    }

    @Test
    void containerOfTheApplicationsOwnMakingClaimsNothingAndIsLoggedOnAQueueOfOneThatDoes(CapturedOutput output) {
        SqsMessageListenerContainer<Object> manual = SqsMessageListenerContainer.builder()
                .sqsAsyncClient(new FakeReceives())
                .id("manual")
                .configure(options -> options.autoStartup(false))
                .queueNames("orders")
                .messageListener(message -> {})
                .build();
        container(prepare(original -> {}));
        GenericApplicationContext beans = new GenericApplicationContext();
        beans.registerBean("manual", SqsMessageListenerContainer.class, () -> manual);
        PlainListeners warnings = new PlainListeners(listeners);
        beans.registerBean(PlainListeners.class, () -> warnings);
        beans.refresh();

        warnings.onApplicationEvent(new ContextRefreshedEvent(beans));

        assertThat(output)
                .contains(
                        "Listener 'manual' on queue 'orders' claims no keys, but listener 'fulfilment' on queue 'orders'");
    }

    @Test
    void applicationsFactoryKeepsItsOptionsButForItsAcknowledgementMode(CapturedOutput output) {
        SqsContainerOptions options = options(configured -> configured
                .maxConcurrentMessages(50)
                .pollTimeout(Duration.ofSeconds(7))
                .acknowledgementMode(AcknowledgementMode.ALWAYS));

        assertThat(options.getMaxConcurrentMessages()).isEqualTo(50);
        assertThat(options.getPollTimeout()).isEqualTo(Duration.ofSeconds(7));
        assertThat(options.getAcknowledgementMode()).isEqualTo(AcknowledgementMode.ON_SUCCESS);
        assertThat(output)
                .containsPattern(
                        "WARN .*'fulfilment' .* its acknowledgement mode ALWAYS does not apply: each message is")
                .doesNotContain("interceptors", "error handler");
    }

    static class KeyOfAnAttribute {
        @ExactlyOnceListener(queueNames = "orders", key = "#headers['tenant'] + '/' + #order")
        void handle(String order) {}
    }

    static class KeyOfAnArgument {
        @ExactlyOnceListener(queueNames = "orders", key = "#order + #tenant")
        void handle(String order, @Header String tenant) {}
    }

    static class KeyOfTheMessage {
        @ExactlyOnceListener(queueNames = "orders", key = "#message.headers['tenant']")
        void handle(String order) {}
    }

    static class FingerprintOfAHeader {
        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#order",
                fingerprint = "{#order, #headers['Sqs_Msa_SenderId']}")
        void handle(String order) {}
    }

    static class KeyOfThePayload {
        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void handle(String order) {}
    }

    /** Without the attributes, each message would have no key, and {@code whenKeyMissing = SKIP} would delete it. */
    @ParameterizedTest
    @ValueSource(
            classes = {KeyOfAnAttribute.class, KeyOfAnArgument.class, KeyOfTheMessage.class, FingerprintOfAHeader.class
            })
    void attributesThatAKeyMayReadAreReceivedWhateverTheFactoryRequests(Class<?> listener) {
        SqsContainerOptions options = withFewAttributes(listener);

        assertThat(options.getMessageAttributeNames()).containsExactly("All");
        assertThat(options.getMessageSystemAttributeNames()).containsExactly("All");
    }

    @Test
    void attributesThatNoKeyReadsAreLeftToTheFactory() {
        SqsContainerOptions options = withFewAttributes(KeyOfThePayload.class);

        assertThat(options.getMessageAttributeNames()).containsExactlyInAnyOrder("traceparent", "ExactlyOnce-Key");
        assertThat(options.getMessageSystemAttributeNames())
                .containsExactlyInAnyOrder(
                        "ApproximateReceiveCount", "SentTimestamp", "MessageGroupId", "MessageDeduplicationId");
    }

    private SqsContainerOptions withFewAttributes(Class<?> listener) {
        SqsEndpoint endpoint = calling(
                SqsEndpoint.builder()
                        .queueNames(List.of("orders"))
                        .id("fulfilment")
                        .factoryBeanName("factory")
                        .build(),
                BeanUtils.instantiateClass(listener));
        return prepare(original -> original.configure(options -> options.messageAttributeNames(List.of("traceparent"))
                        .messageSystemAttributeNames(List.of(MessageSystemAttributeName.SENT_TIMESTAMP))))
                .createContainer(endpoint)
                .getContainerOptions();
    }

    @Test
    void settingsOfTheListenerWinOverThoseOfItsFactory() {
        SqsEndpoint endpoint = prepared(SqsEndpoint.builder()
                .queueNames(List.of("orders"))
                .maxConcurrentMessages(5)
                .maxMessagesPerPoll(4)
                .pollTimeoutSeconds(3)
                .messageVisibility(60));

        SqsContainerOptions options = prepare(factory -> factory.configure(
                        configured -> configured.maxConcurrentMessages(50).pollTimeout(Duration.ofSeconds(7))))
                .createContainer(endpoint)
                .getContainerOptions();

        assertThat(options.getMaxConcurrentMessages()).isEqualTo(5);
        assertThat(options.getMaxMessagesPerPoll()).isEqualTo(4);
        assertThat(options.getPollTimeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(options.getMessageVisibility()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void interceptorsErrorHandlerAndExecutorAreKeptAndReportedToWorkDifferently(CapturedOutput output) {
        SqsMessageListenerContainer<?> container = container(prepare(factory -> {
            factory.messageInterceptor(new MessageInterceptor<>() {});
            factory.messageInterceptor(new AsyncMessageInterceptor<>() {});
            factory.errorHandler(new ErrorHandler<>() {});
            factory.configure(options -> options.componentsTaskExecutor(new SimpleAsyncTaskExecutor()));
        }));

        assertThat(container.getMessageInterceptors()).hasSize(2);
        assertThat(container.getErrorHandler()).isNotNull();
        assertThat(output)
                .containsPattern(
                        "INFO .*'fulfilment' takes over the settings .* its interceptors \\(2\\) do not see messages "
                                + "whose key is completed.*; its error handler deletes nothing.*; "
                                + "with its own task executor, keys")
                .doesNotContain("acknowledgement mode", "component factories");
    }

    @ParameterizedTest
    @CsvSource({
        "orders, 5s, , interval",
        "orders, 0s, 10, threshold",
        "orders.fifo, 1h, 10, interval",
        "orders.fifo, , 10, threshold",
        "orders.fifo, 0s, 10, threshold"
    })
    void optionsThatWouldBufferDeletesForLongerAreReportedToBeBounded(
            String queue,
            @Nullable String interval,
            @Nullable Integer threshold,
            String bounded,
            CapturedOutput output) {
        createContainer(queue, interval, threshold);

        assertThat(output)
                .containsPattern("INFO .*'fulfilment' takes over .* its acknowledgement " + bounded
                        + " buffers deletes for 1 s at most");
    }

    @ParameterizedTest
    @CsvSource({
        "orders, , ",
        "orders, 1s, 10",
        "orders, , 100",
        "orders, 0s, 0",
        "orders, 0s, ",
        "orders.fifo, , ",
        "orders.fifo, 200ms, 10"
    })
    void optionsThatBufferDeletesForASecondAtMostAreNotReported(
            String queue, @Nullable String interval, @Nullable Integer threshold, CapturedOutput output) {
        createContainer(queue, interval, threshold);

        assertThat(output).doesNotContain("takes over");
    }

    private void createContainer(String queue, @Nullable String interval, @Nullable Integer threshold) {
        prepare(original -> original.configure(options -> {
                    if (interval != null) {
                        options.acknowledgementInterval(DurationFormatterUtils.detectAndParse(interval));
                    }
                    if (threshold != null) {
                        options.acknowledgementThreshold(threshold);
                    }
                }))
                .createContainer(endpoint(queue));
    }

    @Test
    void componentFactoriesOfTheApplicationsOwnAreReplacedWithAWarning(CapturedOutput output) {
        SqsMessageListenerContainer<?> container = container(
                prepare(factory -> factory.containerComponentFactories(List.of(new StandardSqsComponentFactory<>()))));

        assertThat(container.getContainerComponentFactories()).hasOnlyElementsOfTypes(ConsumerComponents.class);
        assertThat(output)
                .containsPattern("WARN .*its component factories \\(.*\\.StandardSqsComponentFactory\\) are replaced");
    }

    @Test
    void factoryWhoseOwnListenerWouldTakeTheMethodsPlaceIsRefused() {
        ExactlyOnceContainerFactory factory = prepare(original -> original.messageListener(message -> {}));

        assertThatThrownBy(() -> container(factory))
                .isInstanceOfSatisfying(
                        ExactlyOnceSetupException.class,
                        refused -> assertThat(refused.remedy()).contains("leave messageListener out"))
                .hasMessageContaining("'fulfilment'");
    }

    /**
     * A plain listener has no key to claim, so each message would be returned until it reaches the dead-letter queue.
     */
    @Test
    void plainListenerThatNamesAFactoryThatClaimsKeysIsRefused() {
        ExactlyOnceContainerFactory factory = prepare(original -> {});
        SqsEndpoint plain = calling(endpoint("orders"), new Plain());

        assertThatThrownBy(() -> factory.createContainer(plain))
                .isInstanceOfSatisfying(
                        ExactlyOnceSetupException.class,
                        refused -> assertThat(refused.remedy()).contains("@ExactlyOnceListener"))
                .hasMessageContaining("'fulfilment'")
                .hasMessageContaining("'factory'");
    }

    @Test
    void queueThatIsMissingIsOnlyCreatedIfPropertyAndFactoryAllowIt() {
        assertThat(options(configured -> {}).getQueueNotFoundStrategy()).isEqualTo(QueueNotFoundStrategy.FAIL);

        environment.setProperty("spring.cloud.aws.sqs.queue-not-found-strategy", "CREATE");

        assertThat(options(configured -> {}).getQueueNotFoundStrategy()).isEqualTo(QueueNotFoundStrategy.CREATE);
        assertThat(options(configured -> configured.queueNotFoundStrategy(QueueNotFoundStrategy.FAIL))
                        .getQueueNotFoundStrategy())
                .isEqualTo(QueueNotFoundStrategy.FAIL);
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
    void threadsAreThoseOfSpringCloudAwsUnlessTheApplicationAsksForVirtualOnes() {
        assertThat(options(configured -> {}).getComponentsTaskExecutor()).isNull();
    }

    @Test
    void applicationsOwnExecutorStays() {
        environment.setProperty("spring.threads.virtual.enabled", "true");
        SimpleAsyncTaskExecutor own = new SimpleAsyncTaskExecutor();

        assertThat(options(configured -> configured.componentsTaskExecutor(own)).getComponentsTaskExecutor())
                .isSameAs(own);
    }

    /**
     * An application's factory that lets another factory create the container. Both factories then set up the
     * listener's method.
     */
    private static class Delegating extends SqsMessageListenerContainerFactory<Object> {

        private final MessageListenerContainerFactory<SqsMessageListenerContainer<Object>> other;

        Delegating(MessageListenerContainerFactory<SqsMessageListenerContainer<Object>> other) {
            this.other = other;
        }

        @Override
        protected SqsMessageListenerContainer<Object> createContainerInstance(
                Endpoint endpoint, SqsContainerOptions options) {
            return other.createContainer(endpoint);
        }
    }

    private static SqsMessageListenerContainerFactory<Object> plain() {
        return SqsMessageListenerContainerFactory.builder()
                .sqsAsyncClient(new FakeReceives())
                .build();
    }

    private static boolean claimsKeys(SqsMessageListenerContainer<?> container) {
        return container.getContainerComponentFactories().stream().anyMatch(ConsumerComponents.class::isInstance);
    }

    @ParameterizedTest
    @EnumSource(names = {"ENFORCE", "OBSERVE"})
    void factoryThatDelegatesToAnotherOneMakesAListenerOfOneMethod(ClaimMode mode) {
        SqsMessageListenerContainer<Object> container =
                prepare(new Delegating(plain())).createContainer(endpoint("orders", mode));

        assertThat(claimsKeys(container)).isEqualTo(mode == ClaimMode.ENFORCE);
        assertThat(container.getMessageInterceptors()).hasSize(mode == ClaimMode.OBSERVE ? 1 : 0);
        assertThat(listeners.ids()).containsExactly("fulfilment");
    }

    @ParameterizedTest
    @EnumSource(names = {"ENFORCE", "OBSERVE"})
    void factoryThatDelegatesToAPreparedOneIsPreparedOnce(ClaimMode mode, CapturedOutput output) {
        SqsMessageListenerContainer<Object> container =
                prepare(new Delegating(prepare(plain()))).createContainer(endpoint("orders", mode));

        assertThat(claimsKeys(container)).isEqualTo(mode == ClaimMode.ENFORCE);
        assertThat(container.getMessageInterceptors()).hasSize(mode == ClaimMode.OBSERVE ? 1 : 0);
        assertThat(output).doesNotContain("fulfilment");
    }

    /** A listener can name the application's own factory in the attribute {@code factory} of its annotation. */
    @Test
    void factoryOfTheApplicationsOwnClassMayDelegateToAPreparedOne() {
        MessageListenerContainerFactory<SqsMessageListenerContainer<Object>> prepared = prepare(plain());
        MessageListenerContainerFactory<SqsMessageListenerContainer<Object>> own =
                new MessageListenerContainerFactory<>() {
                    @Override
                    public SqsMessageListenerContainer<Object> createContainer(String... queues) {
                        return prepared.createContainer(queues);
                    }

                    @Override
                    public SqsMessageListenerContainer<Object> createContainer(Endpoint endpoint) {
                        return prepared.createContainer(endpoint);
                    }
                };

        assertThat(claimsKeys(own.createContainer(endpoint("orders")))).isTrue();
    }

    @Test
    void factoryMayMakeSeveralContainersOnAnyThread() {
        List<SqsMessageListenerContainer<Object>> made = new CopyOnWriteArrayList<>();
        SqsMessageListenerContainerFactory<Object> several = new SqsMessageListenerContainerFactory<>() {
            @Override
            public SqsMessageListenerContainer<Object> createContainer(Endpoint endpoint) {
                for (int spare = 0; spare < 2; spare++) {
                    made.add(CompletableFuture.supplyAsync(() -> super.createContainer(endpoint))
                            .join());
                }
                return made.get(0);
            }
        };
        several.setSqsAsyncClient(new FakeReceives());

        SqsMessageListenerContainer<Object> container = prepare(several).createContainer(endpoint("orders"));

        assertThat(container).isSameAs(made.get(0));
        assertThat(claimsKeys(container)).isTrue();
    }

    @Test
    void factoryWhoseContainerWasNotSetUpForTheMethodIsRefused() {
        var factory = prepare(new SqsMessageListenerContainerFactory<>() {
            @Override
            public SqsMessageListenerContainer<Object> createContainer(Endpoint endpoint) {
                return new SqsMessageListenerContainer<>(new FakeReceives());
            }
        });

        assertThatThrownBy(() -> factory.createContainer(endpoint("orders")))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("'fulfilment' returned a container that does not call the annotated method");
    }

    /** A configurer of the application replaced the factory that creates handler methods. */
    @Test
    void listenerWhoseMethodIsCalledByAnotherHandlerFactoryIsRefused() {
        SqsEndpoint endpoint = endpoint("orders");
        DefaultMessageHandlerMethodFactory other = new DefaultMessageHandlerMethodFactory();
        other.afterPropertiesSet();
        endpoint.setHandlerMethodFactory(other);

        assertThatThrownBy(() -> prepare(plain()).createContainer(endpoint))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        refused -> assertThat(refused.remedy())
                                .contains("wrap registrar.getMessageHandlerMethodFactory()"))
                .hasMessageContaining("'fulfilment'")
                .hasMessageContaining("has replaced the MessageHandlerMethodFactory");
    }

    private SqsContainerOptions options(Consumer<SqsContainerOptionsBuilder> configured) {
        return container(prepare(original -> original.configure(configured))).getContainerOptions();
    }

    private static SqsMessageListenerContainer<Object> container(ExactlyOnceContainerFactory factory) {
        return factory.createContainer(endpoint("orders"));
    }

    private ExactlyOnceContainerFactory prepare(
            Consumer<SqsMessageListenerContainerFactory.Builder<Object>> configured) {
        SqsMessageListenerContainerFactory.Builder<Object> original =
                SqsMessageListenerContainerFactory.builder().sqsAsyncClient(new FakeReceives());
        configured.accept(original);
        return prepare(original.build());
    }

    private ExactlyOnceContainerFactory prepare(SqsMessageListenerContainerFactory<Object> original) {
        FakeClock clock = new FakeClock();
        ScriptedStore store = new ScriptedStore();
        Deliveries deliveries = ListenerRig.deliveries(ListenerRig.renewer(store, clock), Duration.ofSeconds(1), clock);
        ListenerEngine engine = ListenerRig.engine(deliveries, store, Runnable::run, check, readiness);
        return new ContainerPreparation(environment, false, engine, observing(), queues, new SharedPools())
                .prepare(original);
    }

    private static ObservedListeners observing() {
        return new ObservedListeners(() -> new ObservedClaims(
                new ScriptedStore(),
                new OutcomePolicy(
                        new ClaimSettings("worker", null),
                        new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5))),
                () -> {},
                List.of(),
                Runnable::run,
                1));
    }

    private static SqsEndpoint endpoint(String queue) {
        return prepared(SqsEndpoint.builder().queueNames(List.of(queue)));
    }

    private static SqsEndpoint endpoint(String queue, ClaimMode mode) {
        SqsEndpoint endpoint = endpoint(queue);
        endpoint.setHandlerMethodFactory(ListenerRig.handlerMethods(mode));
        return endpoint;
    }

    private static SqsEndpoint prepared(SqsEndpoint.SqsEndpointBuilder builder) {
        SqsEndpoint endpoint =
                builder.id("fulfilment").factoryBeanName("factory").build();
        return calling(endpoint, new Listener());
    }

    private static SqsEndpoint calling(SqsEndpoint endpoint, Object listener) {
        endpoint.setBean(ListenerRig.advised(listener));
        endpoint.setMethod(ListenerRig.method(listener.getClass(), "handle"));
        endpoint.setHandlerMethodFactory(ListenerRig.handlerMethods(ClaimMode.ENFORCE));
        return endpoint;
    }
}
