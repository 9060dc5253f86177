package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.ListenerOfAnotherPackage;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.ResolvableType;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.test.util.AopTestUtils;

/** Tests listener beans behind interface proxies, which an application may prefer to class proxies. */
class ListenerProxiesTests {

    interface Handler<I, O> {
        O handle(I input);
    }

    record Order(String orderId) {}

    static class Fulfilment implements Handler<Order, String> {
        @Override
        @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId")
        public String handle(Order order) {
            return order.orderId();
        }
    }

    static final class Final implements Handler<Order, String> {
        @Override
        @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId")
        public String handle(Order order) {
            return order.orderId();
        }
    }

    /** A factory bean whose declared type is only the interface. */
    static class Making implements FactoryBean<Handler<Order, String>> {
        @Override
        public Handler<Order, String> getObject() {
            return new Fulfilment();
        }

        @Override
        public Class<?> getObjectType() {
            return Handler.class;
        }
    }

    private static <T> Object bean(Class<T> type, Supplier<T> supplier, boolean isSecondCreator) {
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
            if (isSecondCreator) {
                context.registerBean(DefaultAdvisorAutoProxyCreator.class);
            }
            context.registerBean(
                    ExactlyOnceAdvisor.class,
                    ListenerRig::advisor,
                    definition -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE));
            context.registerBean("listener", type, supplier);
            context.refresh();
            return context.getBean("listener");
        }
    }

    private static <T> Object bean(Class<T> type, Supplier<T> supplier) {
        return bean(type, supplier, false);
    }

    @SuppressWarnings("rawtypes")
    @Test
    void beanOfAListenerIsProxiedByItsClassHoweverItIsDeclared() {
        assertThat(bean(Fulfilment.class, Fulfilment::new)).matches(AopUtils::isCglibProxy);
        assertThat(bean(Handler.class, Fulfilment::new)).matches(AopUtils::isCglibProxy);
        assertThat(bean(Making.class, Making::new)).matches(AopUtils::isCglibProxy);
        assertThat(bean(Handler.class, Fulfilment::new, true)).matches(AopUtils::isCglibProxy);
    }

    @Test
    void definitionOfAGenericTypeIsProxiedByItsClass() {
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
            context.registerBean(
                    ExactlyOnceAdvisor.class,
                    ListenerRig::advisor,
                    definition -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE));
            RootBeanDefinition definition = new RootBeanDefinition(Fulfilment.class, Fulfilment::new);
            definition.setTargetType(ResolvableType.forClassWithGenerics(Handler.class, Order.class, String.class));
            context.registerBeanDefinition("listener", definition);
            context.refresh();

            assertThat(context.getBean("listener")).isInstanceOf(Fulfilment.class);
        }
    }

    static class Counting extends Listening {
        String received = "none";

        String received() {
            return received;
        }
    }

    @Test
    void fieldOfTheProxyIsNullAndThatOfItsTargetIsNot() {
        Counting bean = (Counting) bean(Counting.class, Counting::new);
        Counting target = AopTestUtils.getUltimateTargetObject(bean);

        assertThat(bean.received).isNull();
        assertThat(bean.received()).isEqualTo("none");
        assertThat(target.received).isEqualTo("none");
    }

    @Test
    void finalClassIsRefusedAlsoBehindAnInterface() {
        assertThatThrownBy(() -> bean(Handler.class, Final::new))
                .rootCause()
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("its class " + Final.class.getName() + " is final");
    }

    abstract static class Listening {
        @ExactlyOnceListener(queueNames = "orders")
        public void fulfil(String order) {}
    }

    static class PrivatePlain extends Listening {
        @SqsListener("returns")
        private void broken(String order) {}
    }

    static class FinalPlain extends Listening {
        @SqsListener("returns")
        public final void broken(String order) {}
    }

    static class FinalTimer extends Listening {
        @Scheduled(fixedDelay = 1000)
        public final void broken() {}
    }

    static class PrivateEvent extends Listening {
        @EventListener
        private void broken(String event) {}
    }

    static class PrivateObserved extends Listening {
        @ExactlyOnceListener(queueNames = "returns", mode = ClaimMode.OBSERVE)
        private void broken(String order) {}
    }

    @ExactlyOnceListener(queueNames = "events")
    static class PrivateHandlerOfASuperclass extends WithPrivateHandler {
        @SqsHandler
        void fits(Integer event) {}
    }

    abstract static class WithPrivateHandler {
        @SqsHandler
        private void broken(String event) {}
    }

    static class Fits extends Listening {
        @SqsListener("returns")
        void plain(String order) {}

        @SqsListener("returns")
        static void withoutABean(String order) {}

        @Scheduled(fixedDelay = 1000)
        protected void timer() {}

        private void helper() {}

        public final void template() {
            helper();
        }
    }

    /** Private and final methods run on the proxy itself, where all fields are null. */
    @ParameterizedTest
    @ValueSource(
            classes = {PrivatePlain.class, FinalPlain.class, FinalTimer.class, PrivateEvent.class, PrivateObserved.class
            })
    void methodThatWouldRunOnTheProxyIsRefused(Class<?> type) {
        assertThatThrownBy(() -> ListenerRig.advisor().matches(ListenerRig.method(Listening.class, "fulfil"), type))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        refused -> assertThat(refused.remedy()).contains("make broken neither private nor final"))
                .hasMessageContaining("Listening.fulfil")
                .hasMessageContaining(type.getSimpleName() + ".broken cannot be called through it");
    }

    @Test
    void otherMethodsOfAListenersBeanMayBePrivateOrFinal() {
        assertThatCode(() -> ListenerRig.advisor().matches(ListenerRig.method(Listening.class, "fulfil"), Fits.class))
                .doesNotThrowAnyException();
    }

    @Test
    void privateHandlerOfAClassIsRefusedAsOneOfOurs() {
        assertThatThrownBy(() ->
                        ListenerRig.settings(new PrivateHandlerOfASuperclass(), WithPrivateHandler.class, "broken"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("bypasses the proxy");
    }

    static class Inheriting extends ListenerOfAnotherPackage {}

    /**
     * The proxy's class is in the package of the bean's class, and cannot override package-private methods of another
     * package.
     */
    @Test
    void methodWithoutAModifierOfAnotherPackageBypassesTheProxy() {
        assertThatThrownBy(() -> ListenerRig.settings(new Inheriting(), ListenerOfAnotherPackage.class, "hidden"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("ListenerOfAnotherPackage.hidden")
                .hasMessageContaining("in another package than " + Inheriting.class.getName());
        assertThatCode(() -> ListenerRig.settings(new Inheriting(), ListenerOfAnotherPackage.class, "visible"))
                .doesNotThrowAnyException();
    }
}
