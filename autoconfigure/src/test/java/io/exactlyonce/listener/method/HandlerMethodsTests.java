package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.TestResults;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/** What is ours about handler methods, and what is left to the application's own. */
class HandlerMethodsTests {

    static class Listeners {

        @ExactlyOnceListener("orders")
        void ours(String order, Claim claim) {}

        @SqsListener("orders")
        void plain(String order, Claim claim) {}
    }

    @Test
    void claimOfAPlainListenerIsItsPayload() {
        var resolver = new ClaimArgumentResolver();

        assertThat(resolver.supportsParameter(parameter("ours", 1))).isTrue();
        assertThat(resolver.supportsParameter(parameter("ours", 0))).isFalse();
        assertThat(resolver.supportsParameter(parameter("plain", 1))).isFalse();
    }

    interface Shipping {
        void ship(String order, Claim claim);
    }

    static class Shipper implements Shipping {
        @Override
        @ExactlyOnceListener("orders")
        public void ship(String order, Claim claim) {}
    }

    /** A JDK proxy is called by its interface's method, which need not have the annotation. */
    @Test
    void claimOfAnInterfacesMethodIsKeptFromBeingItsPayload() {
        var claims = new ClaimArgumentResolver();
        var interfaces = new ProxyFactory(new Shipper());
        interfaces.addAdvisor(ListenerRig.advisor());
        var factory = new DeliveryHandlerMethodFactory(new DefaultMessageHandlerMethodFactory(), methods(), claims);
        var ofInterface = new MethodParameter(ListenerRig.method(Shipping.class, "ship"), 1);
        assertThat(claims.supportsParameter(ofInterface)).isFalse();

        factory.createInvocableHandlerMethod(interfaces.getProxy(), ListenerRig.method(Shipper.class, "ship"));

        assertThat(claims.supportsParameter(ofInterface)).isTrue();
    }

    private static ListenerMethodReader methods() {
        return new ListenerMethodReader(
                ListenerRig.ENFORCED, ListenerRig.beans(new StaticListableBeanFactory()), TestResults.NONE);
    }

    @Test
    void factoryOfTheApplicationsOwnKindIsNotConfiguredByUs() {
        Method plain = ListenerRig.method(Listeners.class, "plain");
        Listeners bean = new Listeners();
        var made = new InvocableHandlerMethod(bean, plain);
        var factory =
                new DeliveryHandlerMethodFactory((target, method) -> made, methods(), new ClaimArgumentResolver());

        assertThatCode(() -> {
                    factory.setArgumentResolvers(List.of(new ClaimArgumentResolver()));
                    factory.afterPropertiesSet();
                })
                .doesNotThrowAnyException();

        assertThat(factory.createInvocableHandlerMethod(bean, plain)).isSameAs(made);
    }

    private static MethodParameter parameter(String method, int index) {
        return new MethodParameter(ListenerRig.method(Listeners.class, method), index);
    }
}
