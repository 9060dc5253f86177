package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.autoconfigure.sqs.SqsAutoConfiguration;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import io.exactlyonce.listener.method.InvalidListenerException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;

/** Tests configurers of later auto-configurations. These configurers replace settings of the library. */
class LaterConfigurerTests {

    static final List<String> KEYS = new CopyOnWriteArrayList<>();

    static class WithClaim {
        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void handle(Claim claim, String order) {
            KEYS.add(claim.key());
        }
    }

    static class WithoutClaim {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(String order) {
            KEYS.add(order);
        }
    }

    @AutoConfiguration(after = ExactlyOnceAutoConfiguration.class)
    static class Resolvers {
        @Bean
        SqsListenerConfigurer later() {
            return registrar -> registrar.manageMethodArgumentResolvers(resolvers -> {});
        }
    }

    @AutoConfiguration(after = ExactlyOnceAutoConfiguration.class)
    static class Factory {
        @Bean
        SqsListenerConfigurer later() {
            return registrar -> {
                registrar.setMessageHandlerMethodFactory(new DefaultMessageHandlerMethodFactory());
                registrar.setMethodPayloadTypeInferrer(null);
            };
        }
    }

    @AutoConfiguration(after = ExactlyOnceAutoConfiguration.class)
    static class FactoryOfAnotherKind {
        @Bean
        SqsListenerConfigurer later() {
            DefaultMessageHandlerMethodFactory configured = new DefaultMessageHandlerMethodFactory();
            configured.afterPropertiesSet();
            return registrar -> registrar.setMessageHandlerMethodFactory(configured::createInvocableHandlerMethod);
        }
    }

    private static ApplicationContextRunner runner(Class<?> later, Class<?> listener) {
        return new ApplicationContextRunner()
                .withPropertyValues(
                        "exactly-once.audit.mode=off",
                        "spring.cloud.aws.sqs.listener.poll-timeout=1s",
                        "spring.cloud.aws.sqs.listener.max-delay-between-polls=10ms")
                .withConfiguration(AutoConfigurations.of(
                        ExactlyOnceDriverAutoConfiguration.class,
                        SqsAutoConfiguration.class,
                        ExactlyOnceAutoConfiguration.class,
                        later))
                .withBean(listener);
    }

    private static void assertHandles(Class<?> later, Class<?> listener) {
        KEYS.clear();
        runner(later, listener).run(context -> {
            assertThat(context).hasNotFailed();
            ExactlyOnceDriver driver = context.getBean(ExactlyOnceDriver.class);
            driver.reset();

            assertThat(driver.deliver(TestMessage.ofBody("A-1"))).wasHandled();
            assertThat(KEYS).containsExactly("A-1");
        });
    }

    @Test
    void listOfResolversThatALaterConfigurerMakesHasOurs() {
        assertHandles(Resolvers.class, WithClaim.class);
    }

    @Test
    void factoryThatALaterConfigurerSetsIsWrapped() {
        assertHandles(Factory.class, WithClaim.class);
        assertHandles(FactoryOfAnotherKind.class, WithoutClaim.class);
    }

    @Test
    void claimThatALaterFactoryCannotMakeIsRefused() {
        runner(FactoryOfAnotherKind.class, WithClaim.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidListenerException.class)
                        .hasMessageContaining("it takes a Claim, which the application's MessageHandlerMethodFactory"));
    }

    /**
     * Spring calls configurers with bean definitions first. A singleton object that an application registers comes
     * last.
     */
    @Test
    void factoryThatReplacesOursIsRefusedWithTheFirstListener() {
        SqsListenerConfigurer last =
                registrar -> registrar.setMessageHandlerMethodFactory(new DefaultMessageHandlerMethodFactory());

        runner(Resolvers.class, WithClaim.class)
                .withInitializer(context -> context.getBeanFactory().registerSingleton("last", last))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidListenerException.class)
                        .hasMessageContaining("has replaced the MessageHandlerMethodFactory"));
    }
}
