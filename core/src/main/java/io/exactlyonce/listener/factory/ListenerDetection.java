package io.exactlyonce.listener.factory;

import io.awspring.cloud.sqs.annotation.SqsListenerAnnotationBeanPostProcessor;
import io.awspring.cloud.sqs.config.SqsBootstrapConfiguration;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers Spring Cloud AWS's detection of listener methods if it is missing. The detection is missing if an
 * application excludes Spring Cloud AWS's auto-configuration for SQS. Without it, listeners would never start.
 */
public final class ListenerDetection implements ImportBeanDefinitionRegistrar {

    private static final String ENABLED = "spring.cloud.aws.sqs.enabled";

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importer, BeanDefinitionRegistry registry) {
        if (!(registry instanceof ListableBeanFactory beans) || !isSetUp(beans)) {
            new SqsBootstrapConfiguration().registerBeanDefinitions(importer, registry);
        }
    }

    private static boolean isSetUp(@Nullable ListableBeanFactory beans) {
        return beans != null
                && beans.getBeanNamesForType(SqsListenerAnnotationBeanPostProcessor.class, true, false).length > 0;
    }

    /** Matches if Spring Cloud AWS's support of SQS is enabled, or if the application has set it up itself. */
    public static final class Expected implements ConfigurationCondition {

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata configuration) {
            return context.getEnvironment().getProperty(ENABLED, Boolean.class, true)
                    || isSetUp(context.getBeanFactory());
        }
    }
}
