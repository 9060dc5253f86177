package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.support.resolver.BatchPayloadMethodArgumentResolver;
import io.awspring.cloud.sqs.support.resolver.QueueAttributesMethodArgumentResolver;
import io.awspring.cloud.sqs.support.resolver.SnsNotificationArgumentResolver;
import io.awspring.cloud.sqs.support.resolver.SqsMessageMethodArgumentResolver;
import io.awspring.cloud.sqs.support.resolver.VisibilityHandlerMethodArgumentResolver;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.claim.ExecutorClaimStore;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObservers;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.CircuitBreakers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.RetryingClaimClient;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.expression.HandlerArguments;
import io.exactlyonce.listener.expression.HandlerSignature;
import io.exactlyonce.listener.expression.KeyExpression;
import io.exactlyonce.listener.expression.Purpose;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.listener.startup.ListenerSummary;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.FakeTimer;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.result.TestResults;
import io.exactlyonce.time.NanoClock;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.SynthesizingMethodParameter;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.messaging.Message;
import org.springframework.messaging.converter.CompositeMessageConverter;
import org.springframework.messaging.converter.JacksonJsonMessageConverter;
import org.springframework.messaging.converter.SimpleMessageConverter;
import org.springframework.messaging.converter.StringMessageConverter;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.annotation.support.HeaderMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.HeadersMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.MessageMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.mock.env.MockEnvironment;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import tools.jackson.databind.json.JsonMapper;

/** Messages and methods for tests of listeners. */
public final class ListenerRig {

    /** Creates a reader for listener methods that use no transactions. */
    static ListenerMethodReader reader(StaticListableBeanFactory beans, ListenerModes modes) {
        return new ListenerMethodReader(beans, modes, (manager, own, named) -> {
            throw new AssertionError("There is no " + manager);
        });
    }

    static ListenerMethod read(ListenerMethodReader reader, Object bean, Class<?> type, String name) {
        Method method = method(type, name);
        return reader.read(bean, declared(type, name), new InvocableHandlerMethod(bean, method), resolvers());
    }

    /** Modes that enforce every listener, except if the listener's annotation sets another mode. */
    static final ListenerModes ENFORCED = new ListenerModes(new MockEnvironment(), ClaimMode.ENFORCE);

    private static final DeliveryObservers NO_OBSERVER = new DeliveryObservers(List.of());

    private ListenerRig() {}

    public static Method method(Class<?> type, String name) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.getName().equals(name) && !method.isBridge())
                .findFirst()
                .orElseThrow();
    }

    static ListenerDeclaration declared(Class<?> type, String name) {
        return Objects.requireNonNull(ListenerDeclaration.find(type, method(type, name)));
    }

    /**
     * Creates a key expression that may name arguments of a method. Resolvers of Spring Cloud AWS create the arguments.
     */
    public static KeyExpression key(String text, Method method) {
        return key(text, method, resolvers());
    }

    public static KeyExpression key(String text, Method method, List<HandlerMethodArgumentResolver> resolvers) {
        return expression(Purpose.KEY, text, method, resolvers);
    }

    /** Creates a key expression that may name beans. */
    public static KeyExpression key(String text, Method method, BeanFactory beans) {
        return new KeyExpression(Purpose.KEY, text, arguments(method), beans);
    }

    /** Creates a fingerprint expression that may name arguments of a method. */
    public static KeyExpression fingerprint(String text, Method method) {
        return expression(Purpose.FINGERPRINT, text, method, resolvers());
    }

    private static KeyExpression expression(
            Purpose purpose, String text, Method method, List<HandlerMethodArgumentResolver> resolvers) {
        return new KeyExpression(purpose, text, arguments(method, resolvers), new StaticListableBeanFactory());
    }

    /** Returns the arguments that expressions may name for a method. */
    public static HandlerArguments arguments(Method method) {
        return arguments(method, resolvers());
    }

    private static HandlerArguments arguments(Method method, List<HandlerMethodArgumentResolver> resolvers) {
        return new HandlerArguments(
                signature(method, resolvers),
                ListenerRules.isBatch(method),
                ListenerRules.list(method),
                (problem, remedy) -> new InvalidListenerException(method, problem, remedy));
    }

    /** Returns the payload that a reconciler gets for a message of a method. */
    public static @Nullable Object payload(Method method, Message<?> message) {
        return HandlerArguments.payloadOf(
                        signature(method, resolvers()),
                        ListenerRules.isBatch(method),
                        ListenerRules.list(method),
                        (problem, remedy) -> new InvalidListenerException(method, problem, remedy))
                .apply(message);
    }

    private static HandlerSignature signature(Method method, List<HandlerMethodArgumentResolver> resolvers) {
        MethodParameter[] parameters = IntStream.range(0, method.getParameterCount())
                .mapToObj(index -> new SynthesizingMethodParameter(method, index))
                .toArray(MethodParameter[]::new);
        return HandlerSignature.of(method.getDeclaringClass(), method, parameters, resolvers, name -> name);
    }

    /** Returns the argument resolvers that tests need: our own, and those of Spring Cloud AWS. */
    public static List<HandlerMethodArgumentResolver> resolvers() {
        var converter = new CompositeMessageConverter(
                List.of(new StringMessageConverter(), new SimpleMessageConverter(), new JacksonJsonMessageConverter()));
        return List.of(
                new ClaimArgumentResolver(),
                new VisibilityHandlerMethodArgumentResolver(SqsHeaders.SQS_VISIBILITY_TIMEOUT_HEADER),
                new SqsMessageMethodArgumentResolver(),
                new QueueAttributesMethodArgumentResolver(),
                new SnsNotificationArgumentResolver(converter, new JsonMapper()),
                new HeaderMethodArgumentResolver(new DefaultConversionService(), null),
                new HeadersMethodArgumentResolver(),
                new BatchPayloadMethodArgumentResolver(converter),
                new MessageMethodArgumentResolver(converter),
                new PayloadMethodArgumentResolver(converter));
    }

    /** Creates the settings of a container whose listener methods are only observed. */
    public static ContainerSettings observed(Object target, String... methods) {
        return settings(target, target.getClass(), ClaimMode.OBSERVE, methods);
    }

    /** Creates the settings of a container for the given methods of an object. */
    public static ContainerSettings settings(Object target, String... methods) {
        return settings(target, target.getClass(), methods);
    }

    /** Creates the settings of a container for methods that an object inherits. */
    public static ContainerSettings settings(Object target, Class<?> declaring, String... methods) {
        return settings(advised(target), declaring, ClaimMode.ENFORCE, methods);
    }

    /** Returns the proxy that claims keys for an object's listener methods. */
    public static Object advised(Object target) {
        ProxyFactory classes = new ProxyFactory(target);
        classes.setProxyTargetClass(true);
        classes.addAdvisor(advisor());
        return classes.getProxy();
    }

    /** Returns a factory that creates the handler methods of listeners in the given mode. */
    public static DeliveryHandlerMethodFactory handlerMethods(ClaimMode mode) {
        var factory = new DeliveryHandlerMethodFactory(
                new DefaultMessageHandlerMethodFactory(),
                reader(new StaticListableBeanFactory(), new ListenerModes(new MockEnvironment(), mode)));
        factory.setArgumentResolvers(resolvers());
        factory.afterPropertiesSet();
        return factory;
    }

    private static ContainerSettings settings(Object bean, Class<?> declaring, ClaimMode mode, String... methods) {
        var factory = handlerMethods(mode);
        return ContainerSettings.of(() -> {
            for (String method : methods) {
                factory.createInvocableHandlerMethod(bean, method(declaring, method));
            }
        });
    }

    public static final ListenerSummary START_LINE =
            new ListenerSummary(() -> "memory", policy(Duration.ofSeconds(8)), new RenewalSchedule(0.5, 0.1));

    /** Creates a renewer that has no observers, and renews when half of a visibility timeout is over. */
    public static Renewer renewer(ScriptedStore store, NanoClock clock) {
        return new Renewer(store, new RenewalSchedule(0.5, 0), event -> {}, Runnable::run, clock, () -> 0);
    }

    /** Creates deliveries in flight on the given renewer, with a store that grants every key. */
    public static Deliveries deliveries(Renewer renewer, Duration backoff, NanoClock clock) {
        return deliveries(renewer, NO_OBSERVER, backoff, clock, new ScriptedStore(), Runnable::run);
    }

    /**
     * @param backoff the shortest backoff
     * @param threads the threads that call the store
     */
    public static Deliveries deliveries(
            Renewer renewer,
            DeliveryObserver observer,
            Duration backoff,
            NanoClock clock,
            ScriptedStore store,
            Executor threads) {
        return new Deliveries(renewer, claims(store, threads, clock), policy(backoff), observer, clock, 1_000);
    }

    static OutcomePolicy policy(Duration backoff) {
        return new OutcomePolicy(
                new ClaimSettings("worker", null), new RetryBackoff(backoff, Duration.ofMinutes(5), () -> 0));
    }

    private static RetryingClaimClient claims(ScriptedStore store, Executor threads, NanoClock clock) {
        return new RetryingClaimClient(store, new ExecutorClaimStore(store, threads, clock), new FakeTimer());
    }

    static DeliveryPipeline pipeline(ScriptedStore store, Executor threads, NanoClock clock) {
        return new DeliveryPipeline(
                claims(store, threads, clock),
                policy(Duration.ofSeconds(8)),
                TestResults.writing(Object::toString),
                NO_OBSERVER,
                clock,
                Runnable::run);
    }

    /**
     * Makes the engine for components of containers.
     *
     * @param threads the threads that call the store
     */
    public static ListenerEngine engine(Deliveries deliveries, ScriptedStore store, Executor threads) {
        return engine(deliveries, store, threads, () -> {}, () -> {});
    }

    /**
     * @param check runs when the first container is created
     * @param readiness runs before the first poll
     */
    public static ListenerEngine engine(
            Deliveries deliveries, ScriptedStore store, Executor threads, Runnable check, Runnable readiness) {
        FakeClock clock = new FakeClock();
        return new ListenerEngine(
                pipeline(store, threads, clock),
                deliveries,
                new CircuitBreakers(clock),
                NO_OBSERVER,
                new FakeTimer(clock),
                audited -> {},
                START_LINE,
                check,
                readiness);
    }

    public static Delivery delivery() {
        Subscription subscription =
                new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
        return new Delivery(subscription, subscription.settings(), "message-id", "handle", 1, 0);
    }

    public static ReceivedMessage received() {
        return received(delivery(), null, "body");
    }

    public static ReceivedMessage received(Delivery delivery, @Nullable String keyAttribute, String body) {
        MessageAttributeValue key = MessageAttributeValue.builder()
                .dataType("String")
                .stringValue(keyAttribute)
                .build();
        var source = software.amazon.awssdk.services.sqs.model.Message.builder()
                .messageId(delivery.messageId())
                .receiptHandle(delivery.receiptHandle())
                .body(body)
                .messageAttributes(keyAttribute == null ? Map.of() : Map.of(ReceivedMessage.KEY_ATTRIBUTE, key))
                .build();
        return new ReceivedMessage(
                delivery, new SqsMessage(delivery.subscription().queue(), source));
    }

    /** Returns the message with its {@link ReceivedMessage} attached. */
    @SuppressWarnings("unchecked")
    public static <T> Message<T> attach(ReceivedMessage received, Message<T> message) {
        return (Message<T>) received.attachTo(message, null);
    }

    public static Message<String> message(Map<String, Object> headers) {
        return MessageBuilder.withPayload("payload").copyHeaders(headers).build();
    }

    /** Returns a message for tests that do not read its content. */
    public static Message<Object> anyMessage() {
        return MessageBuilder.<Object>withPayload("payload").build();
    }

    /** Returns an advisor for methods that are never called. */
    static ExactlyOnceAdvisor advisor() {
        return new ExactlyOnceAdvisor(
                () -> {
                    throw new IllegalStateException();
                },
                ENFORCED);
    }
}
