package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.delivery.TestResults;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/** What is left to the application's own handler methods. */
class HandlerMethodsTests {

    static class Listeners {

        @SqsListener("orders")
        void plain(String order) {}
    }

    @Test
    void factoryOfTheApplicationsOwnKindIsNotConfiguredByUs() {
        Method plain = ListenerRig.method(Listeners.class, "plain");
        Listeners bean = new Listeners();
        var made = new InvocableHandlerMethod(bean, plain);
        var factory = new DeliveryHandlerMethodFactory(
                (target, method) -> made,
                ListenerRig.reader(new StaticListableBeanFactory(), ListenerRig.ENFORCED, TestResults.NONE));

        assertThatCode(() -> {
                    factory.setArgumentResolvers(List.of(new ClaimArgumentResolver()));
                    factory.afterPropertiesSet();
                })
                .doesNotThrowAnyException();

        assertThat(factory.createInvocableHandlerMethod(bean, plain)).isSameAs(made);
    }
}
