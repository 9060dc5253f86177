package io.exactlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import io.awspring.cloud.sqs.ConfigUtils;
import io.awspring.cloud.sqs.FifoUtils;
import io.awspring.cloud.sqs.MessageHeaderUtils;
import io.awspring.cloud.sqs.MessagingHeaders;
import io.awspring.cloud.sqs.QueueAttributesResolver;
import io.awspring.cloud.sqs.SqsAcknowledgementException;
import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.annotation.SqsListenerAnnotationBeanPostProcessor;
import io.awspring.cloud.sqs.config.AbstractEndpoint;
import io.awspring.cloud.sqs.config.Endpoint;
import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.HandlerMethodEndpoint;
import io.awspring.cloud.sqs.config.MessageListenerContainerFactory;
import io.awspring.cloud.sqs.config.MultiMethodSqsEndpoint;
import io.awspring.cloud.sqs.config.SqsBootstrapConfiguration;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.AbstractMessageListenerContainer;
import io.awspring.cloud.sqs.listener.AsyncAdapterBlockingExecutionFailedException;
import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.BackPressureMode;
import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.ContainerComponentFactory;
import io.awspring.cloud.sqs.listener.ContainerOptions;
import io.awspring.cloud.sqs.listener.FifoBatchGroupingStrategy;
import io.awspring.cloud.sqs.listener.IdentifiableContainerComponent;
import io.awspring.cloud.sqs.listener.ListenerExecutionFailedException;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.QueueAttributesAware;
import io.awspring.cloud.sqs.listener.QueueMessageVisibility;
import io.awspring.cloud.sqs.listener.QueueNotFoundStrategy;
import io.awspring.cloud.sqs.listener.SqsAsyncClientAware;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.TaskExecutorAware;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.AsyncAcknowledgementResultCallback;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.ImmediateAcknowledgementProcessor;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementHandler;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.NeverAcknowledgementHandler;
import io.awspring.cloud.sqs.listener.adapter.CompositeInvocableHandler;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandler;
import io.awspring.cloud.sqs.listener.backpressure.BatchAwareBackPressureHandler;
import io.awspring.cloud.sqs.listener.interceptor.AsyncMessageInterceptor;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.AbstractMessageProcessingPipelineSink;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.source.AbstractMessageConvertingMessageSource;
import io.awspring.cloud.sqs.listener.source.MessageSource;
import io.awspring.cloud.sqs.listener.source.PollingMessageSource;
import io.awspring.cloud.sqs.support.converter.AbstractMessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.ContextAwareMessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.MessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.MessagingMessageHeaders;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessageIdResolver;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.awspring.cloud.sqs.support.resolver.BatchPayloadMethodArgumentResolver;
import io.awspring.cloud.sqs.support.resolver.BatchVisibilityHandlerMethodArgumentResolver;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The types of Spring Cloud AWS on which the library depends, to be compared with those of another version. Without one
 * of them this class does not compile. A class of the library that uses another type fails these tests.
 */
@AnalyzeClasses(
        packages = "io.exactlyonce",
        importOptions = {DoNotIncludeTests.class, ArchitectureTests.OnlyTheEngine.class})
class SpringCloudAwsTypesTests {

    /** Types that the library extends or implements: a new abstract method, or a final one, breaks the library. */
    private static final Set<Class<?>> EXTENDED = Set.of(
            AbstractMessageConvertingMessageSource.class,
            AbstractMessageProcessingPipelineSink.class,
            AsyncMessageInterceptor.class,
            AsyncMessageListener.class,
            CompositeInvocableHandler.class,
            ContainerComponentFactory.class,
            EndpointRegistrar.class,
            IdentifiableContainerComponent.class,
            MessageListenerContainerFactory.class,
            MessageProcessingPipeline.class,
            MultiMethodSqsEndpoint.class,
            PollingMessageSource.class,
            QueueMessageVisibility.class,
            SqsAsyncClientAware.class,
            SqsListenerConfigurer.class,
            TaskExecutorAware.class);

    /** Types that the library only calls, creates, catches or names. */
    private static final Set<Class<?>> USED = Set.of(
            AbstractEndpoint.class,
            AbstractMessageListenerContainer.class,
            AbstractMessagingMessageConverter.class,
            Acknowledgement.class,
            AcknowledgementHandler.class,
            AcknowledgementMode.class,
            AcknowledgementProcessor.class,
            AsyncAcknowledgementResultCallback.class,
            AsyncAdapterBlockingExecutionFailedException.class,
            BackPressureHandler.class,
            BackPressureHandler.ReleaseReason.class,
            BackPressureMode.class,
            BatchAcknowledgement.class,
            BatchAwareBackPressureHandler.class,
            BatchPayloadMethodArgumentResolver.class,
            BatchVisibility.class,
            BatchVisibilityHandlerMethodArgumentResolver.class,
            ConfigUtils.class,
            ContainerOptions.class,
            ContextAwareMessagingMessageConverter.class,
            Endpoint.class,
            FifoBatchGroupingStrategy.class,
            FifoUtils.class,
            HandlerMethodEndpoint.class,
            ImmediateAcknowledgementProcessor.class,
            ListenerExecutionFailedException.class,
            ListenerMode.class,
            MessageConversionContext.class,
            MessageHeaderUtils.class,
            MessageListenerContainer.class,
            MessageListenerContainerRegistry.class,
            MessageProcessingContext.class,
            MessageSink.class,
            MessageSource.class,
            MessagingMessageConverter.class,
            MessagingMessageHeaders.class,
            MultiMethodSqsEndpoint.MultiMethodSqsEndpointBuilder.class,
            NeverAcknowledgementHandler.class,
            QueueAttributes.class,
            QueueAttributesAware.class,
            QueueAttributesResolver.class,
            QueueAttributesResolver.Builder.class,
            QueueNotFoundStrategy.class,
            SnsNotification.class,
            SnsNotificationMessage.class,
            SqsAcknowledgementException.class,
            SqsBootstrapConfiguration.class,
            SqsContainerOptions.class,
            SqsContainerOptionsBuilder.class,
            SqsHandler.class,
            SqsListener.class,
            SqsListenerAnnotationBeanPostProcessor.class,
            SqsMessageConversionContext.class,
            SqsMessageIdResolver.class,
            SqsMessageListenerContainer.class,
            SqsMessageListenerContainerFactory.class,
            SqsMessagingMessageConverter.class,
            Visibility.class);

    /** Types of constants that the compiler copies, so that compiled classes do not name them. */
    static final Set<Class<?>> COPIED =
            Set.of(MessagingHeaders.class, SqsHeaders.class, SqsHeaders.MessageSystemAttributes.class);

    @ArchTest
    static void libraryDependsOnTheseTypes(JavaClasses classes) {
        assertThat(classes.stream()
                        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                        .map(Dependency::getTargetClass)
                        .map(JavaClass::getBaseComponentType)
                        .map(JavaClass::getName)
                        .filter(SpringCloudAwsTypesTests::isOfSpringCloudAws)
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrderElementsOf(names(Stream.concat(EXTENDED.stream(), USED.stream())));
    }

    @ArchTest
    static void libraryExtendsTheseTypes(JavaClasses classes) {
        assertThat(classes.stream()
                        .flatMap(type ->
                                Stream.concat(type.getRawSuperclass().stream(), type.getRawInterfaces().stream()))
                        .map(JavaClass::getName)
                        .filter(SpringCloudAwsTypesTests::isOfSpringCloudAws)
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrderElementsOf(names(EXTENDED.stream()));
    }

    private static boolean isOfSpringCloudAws(String type) {
        return type.startsWith("io.awspring.");
    }

    private static Set<String> names(Stream<Class<?>> types) {
        return types.map(Class::getName).collect(Collectors.toSet());
    }
}
