package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * Tests which listener methods are refused, and that an application's own factory of handler methods stays unchanged.
 */
class HandlerMethodsTests {

    static class Listeners {

        @SqsListener("orders")
        void plain(String order) {}

        @ExactlyOnceListener(queueNames = "orders", factory = "bulk")
        void unprepared(String order) {}

        @SqsListener("orders")
        @ExactlyOnceListener("orders")
        void annotatedTwice(String order) {}
    }

    /** A container that was not prepared would handle messages without claims, or each message would fail. */
    @ParameterizedTest
    @CsvSource({
        "unprepared, 'bulk', 'pass ''bulk'' to ExactlyOnceContainerFactoryConfigurer#prepare, which keeps its error handler'",
        "annotatedTwice, @SqsListener beside it, move the attributes of @SqsListener to @ExactlyOnceListener"
    })
    void listenerOfAContainerThatIsNotPreparedIsRefused(String method, String factory, String remedy) {
        for (ClaimMode mode : ClaimMode.values()) {
            assertThatThrownBy(() -> ListenerRig.handlerMethods(mode)
                            .createInvocableHandlerMethod(
                                    ListenerRig.advised(new Listeners()), ListenerRig.method(Listeners.class, method)))
                    .isInstanceOfSatisfying(
                            InvalidListenerException.class,
                            refused -> assertThat(refused.remedy()).contains(remedy))
                    .hasMessageContaining("Listeners." + method)
                    .hasMessageContaining(factory)
                    .hasMessageContaining("does not prepare containers");
        }
    }

    @Test
    void factoryOfTheApplicationsOwnKindIsNotConfiguredByUs() {
        Method plain = ListenerRig.method(Listeners.class, "plain");
        Listeners bean = new Listeners();
        var made = new InvocableHandlerMethod(bean, plain);
        var factory = new DeliveryHandlerMethodFactory(
                (target, method) -> made, ListenerRig.reader(new StaticListableBeanFactory(), ListenerRig.ENFORCED));

        assertThatCode(() -> {
                    factory.setArgumentResolvers(List.of(new ClaimArgumentResolver()));
                    factory.afterPropertiesSet();
                })
                .doesNotThrowAnyException();

        assertThat(factory.createInvocableHandlerMethod(bean, plain)).isSameAs(made);
    }
}
