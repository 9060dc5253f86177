package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.annotation.SqsListenerAnnotationBeanPostProcessor;
import io.awspring.cloud.sqs.config.SqsBeanNames;
import io.awspring.cloud.sqs.config.SqsBootstrapConfiguration;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.DefaultListenerContainerRegistry;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.container.ConsumerComponents;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.queue.ScriptedStore;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Applications without Spring Cloud AWS's auto-configuration, which set SQS up themselves. */
class OwnSqsSetUpTests {

    /** The class is public for its proxy, which has another class loader. */
    public static class Listener {
        @ExactlyOnceListener(id = "orders", queueNames = "orders")
        public void handle(String order) {}
    }

    static class Client {
        @Bean
        SqsAsyncClient sqsAsyncClient() {
            FakeReceives sqs = new FakeReceives();
            sqs.attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, "30");
            return sqs;
        }
    }

    static class Factory {
        @Bean
        SqsMessageListenerContainerFactory<Object> defaultSqsListenerContainerFactory(SqsAsyncClient client) {
            return factory(client, 7);
        }
    }

    static SqsMessageListenerContainerFactory<Object> factory(SqsAsyncClient client, int mostMessages) {
        return SqsMessageListenerContainerFactory.builder()
                .sqsAsyncClient(client)
                .configure(options -> options.maxConcurrentMessages(mostMessages)
                        .maxMessagesPerPoll(mostMessages)
                        .listenerShutdownTimeout(Duration.ZERO))
                .build();
    }

    @Import(SqsBootstrapConfiguration.class)
    static class Bootstrap {}

    /** An application's own post-processor, with its own name. */
    static class OwnPostProcessor {
        @Bean
        static SqsListenerAnnotationBeanPostProcessor listeners() {
            return new SqsListenerAnnotationBeanPostProcessor() {};
        }

        @Bean(SqsBeanNames.ENDPOINT_REGISTRY_BEAN_NAME)
        static MessageListenerContainerRegistry registry() {
            return new DefaultListenerContainerRegistry();
        }
    }

    /** Names another factory than the default one. */
    static class Named {
        @Bean
        SqsMessageListenerContainerFactory<Object> mine(SqsAsyncClient client) {
            return factory(client, 3);
        }

        @Bean
        SqsListenerConfigurer names() {
            return registrar -> registrar.setDefaultListenerContainerFactoryBeanName("mine");
        }
    }

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(ExactlyOnceAutoConfiguration.class))
            .withClassLoader(new FilteredClassLoader("io.awspring.cloud.autoconfigure"))
            .withBean(ClaimStore.class, ScriptedStore::new)
            .withUserConfiguration(Client.class, Listener.class);

    private static void assertClaims(AssertableApplicationContext context, int mostMessages) {
        assertThat(context).hasNotFailed();
        MessageListenerContainerRegistry containers = context.getBean(MessageListenerContainerRegistry.class);
        assertThat(containers.getListenerContainers()).hasSize(1);
        SqsMessageListenerContainer<?> container =
                (SqsMessageListenerContainer<?>) containers.getContainerById("orders");
        assertThat(container).isNotNull();
        assertThat(container.isRunning()).isTrue();
        assertThat(container.getContainerComponentFactories()).hasOnlyElementsOfTypes(ConsumerComponents.class);
        assertThat(container.getContainerOptions().getMaxConcurrentMessages()).isEqualTo(mostMessages);
    }

    @Test
    void listenerClaimsOnTheApplicationsOwnBootstrapConfiguration() {
        runner.withUserConfiguration(Bootstrap.class, Factory.class).run(context -> assertClaims(context, 7));
    }

    /** The property disables Spring Cloud AWS's configuration, but not the application's. */
    @Test
    void listenerClaimsOnTheApplicationsOwnBootstrapConfigurationAlthoughThatOfSpringCloudAwsIsOff() {
        runner.withUserConfiguration(Bootstrap.class, Factory.class)
                .withPropertyValues("spring.cloud.aws.sqs.enabled=false")
                .run(context -> assertClaims(context, 7));
    }

    /** Trap: nothing would look for listener methods, and no log line would say so. */
    @Test
    void listenerClaimsWithoutAnyBootstrapConfiguration() {
        runner.withUserConfiguration(Factory.class).run(context -> assertClaims(context, 7));
    }

    @Test
    void listenerIsFoundOnceByAPostProcessorOfTheApplicationsOwn() {
        runner.withUserConfiguration(OwnPostProcessor.class, Factory.class).run(context -> assertClaims(context, 7));
    }

    @Test
    void factoryOfTheRegistrarIsUnderneath() {
        runner.withUserConfiguration(Bootstrap.class, Factory.class, Named.class)
                .run(context -> assertClaims(context, 3));
    }

    @Test
    void startupWithoutAContainerFactoryFailsAndNamesTheMissingBean() {
        runner.withUserConfiguration(Bootstrap.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOfSatisfying(
                                InvalidListenerException.class,
                                refused -> assertThat(refused.remedy())
                                        .contains(
                                                "declare a bean 'defaultSqsListenerContainerFactory'",
                                                "SqsAsyncClient",
                                                "SqsAutoConfiguration")));
    }
}
