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
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.mock.env.MockEnvironment;

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
        var resolver = new ClaimArgumentResolver(new ProxyMethods());

        assertThat(resolver.supportsParameter(parameter("ours", 1))).isTrue();
        assertThat(resolver.supportsParameter(parameter("ours", 0))).isFalse();
        assertThat(resolver.supportsParameter(parameter("plain", 1))).isFalse();
    }

    @Test
    void factoryOfTheApplicationsOwnKindIsNotConfiguredByUs() {
        Method plain = ListenerRig.method(Listeners.class, "plain");
        Listeners bean = new Listeners();
        var made = new InvocableHandlerMethod(bean, plain);
        var methods = new ListenerMethodReader(
                new MockEnvironment(), ListenerRig.beans(new StaticListableBeanFactory()), TestResults.NONE);
        var factory = new DeliveryHandlerMethodFactory((target, method) -> made, methods, new ProxyMethods());

        assertThatCode(() -> {
                    factory.setArgumentResolvers(List.of(new ClaimArgumentResolver(new ProxyMethods())));
                    factory.afterPropertiesSet();
                })
                .doesNotThrowAnyException();

        assertThat(factory.createInvocableHandlerMethod(bean, plain)).isSameAs(made);
    }

    private static MethodParameter parameter(String method, int index) {
        return new MethodParameter(ListenerRig.method(Listeners.class, method), index);
    }
}
