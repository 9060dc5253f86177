package io.exactlyonce.listener.method;

import static org.mockito.Mockito.mock;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.ScriptedStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.annotation.support.MessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.ClassUtils;

/** Calls listener methods as containers do, on a store that grants every key. */
final class ContainerCalls {

    final ScriptedStore store = new ScriptedStore();
    final FakeClock clock = new FakeClock();
    final DeliveryPipeline pipeline = ListenerRig.pipeline(store, Runnable::run, clock);
    final Deliveries deliveries =
            ListenerRig.deliveries(ListenerRig.renewer(store, clock), Duration.ofSeconds(1), clock);

    /** The argument resolvers of Spring Cloud AWS, without ours. */
    final List<HandlerMethodArgumentResolver> resolvers = ListenerRig.resolvers().stream()
            .filter(resolver -> !(resolver instanceof ClaimArgumentResolver))
            .toList();

    /** The transaction outcomes of handlers with effects in the database. */
    final List<String> transactions = new ArrayList<>();

    final ExactlyOnceAdvisor advisor = new ExactlyOnceAdvisor(() -> pipeline, ListenerRig.ENFORCED);

    /**
     * Returns a listener's proxy. The advice of {@code outside} runs around the claiming advisor, and the advice of
     * {@code inside} runs within the claiming advisor.
     */
    Object proxy(Object target, List<MethodInterceptor> outside, List<MethodInterceptor> inside) {
        ProxyFactory proxies = new ProxyFactory(target);
        proxies.setProxyTargetClass(true);
        outside.forEach(proxies::addAdvice);
        proxies.addAdvisor(ExposeInvocationInterceptor.ADVISOR);
        proxies.addAdvisor(advisor);
        inside.forEach(proxies::addAdvice);
        return proxies.getProxy();
    }

    Object proxy(Object target) {
        return proxy(target, List.of(), List.of());
    }

    /** A listener's method, and the settings of the container that calls the method. */
    record Called(InvocableHandlerMethod method, ContainerSettings settings) {}

    Called method(Object bean, String name) {
        return method(new DefaultMessageHandlerMethodFactory(), bean, name);
    }

    Called method(MessageHandlerMethodFactory original, Object bean, String name) {
        StaticListableBeanFactory beans = new StaticListableBeanFactory();
        beans.addBean("transactions", mock(PlatformTransactionManager.class));
        var factory = new DeliveryHandlerMethodFactory(
                original,
                new ListenerMethodReader(beans, ListenerRig.ENFORCED, (manager, own, named) -> this::inTransaction));
        factory.setArgumentResolvers(resolvers);
        factory.afterPropertiesSet();
        Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
        AtomicReference<InvocableHandlerMethod> made = new AtomicReference<>();
        ContainerSettings settings = ContainerSettings.of(
                () -> made.set(factory.createInvocableHandlerMethod(bean, ListenerRig.method(type, name))));
        return new Called(made.get(), settings);
    }

    /** Grants every key, and records whether the transaction would commit or roll back. */
    private List<ClaimOutcome> inTransaction(List<ClaimRequest> requests, ClaimTransaction.BatchWork work)
            throws Exception {
        List<ClaimOutcome> outcomes = requests.stream()
                .<ClaimOutcome>map(request -> new Acquired(1, 1, false))
                .toList();
        try {
            work.run(outcomes);
        } catch (Exception failure) {
            transactions.add("rolled back");
            throw failure;
        }
        transactions.add("committed");
        return outcomes;
    }

    /** Returns polled messages. Their keys are claimed, except if the handler's transaction claims them. */
    List<Message<?>> polled(Called called, String... payloads) {
        List<Message<?>> messages =
                Arrays.stream(payloads).<Message<?>>map(this::received).toList();
        List<ReceivedMessage> received =
                messages.stream().map(ReceivedMessage::require).toList();
        received.forEach(called.settings()::specify);
        if (called.settings().listener().transaction() == null) {
            pipeline.claim(ReceivedMessage.deliveries(received)).join();
        }
        return messages;
    }

    private Message<String> received(String payload) {
        Delivery delivery = ListenerRig.delivery();
        deliveries.begin(List.of(delivery));
        return ListenerRig.attach(
                ListenerRig.received(delivery, null, "body"),
                MessageBuilder.withPayload(payload).build());
    }

    static Delivery delivery(Message<?> message) {
        return ReceivedMessage.require(message).delivery();
    }

    @Nullable Object call(Called called, List<Message<?>> messages) throws Exception {
        return called.method()
                .invoke(called.settings().listener().isBatch() ? new GenericMessage<>(messages) : messages.get(0));
    }

    @Nullable Object call(Called called, String... payloads) throws Exception {
        return call(called, polled(called, payloads));
    }
}
