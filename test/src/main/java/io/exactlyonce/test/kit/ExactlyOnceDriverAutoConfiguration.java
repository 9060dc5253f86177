package io.exactlyonce.test.kit;

import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import io.exactlyonce.listener.method.InvalidListenerException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Set;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Role;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils;
import tools.jackson.databind.json.JsonMapper;

/** Replaces time, queues and claims by versions that tests control. Everything else is the starter's. */
@AutoConfiguration(
        before = ExactlyOnceAutoConfiguration.class,
        beforeName = "io.awspring.cloud.autoconfigure.sqs.SqsAutoConfiguration")
final class ExactlyOnceDriverAutoConfiguration {

    @Bean
    TestClock exactlyOnceTestClock() {
        return new TestClock();
    }

    @Bean
    Journal exactlyOnceTestJournal() {
        return new Journal();
    }

    @Bean
    @Primary
    TestQueues exactlyOnceTestQueues(TestClock clock) {
        return new TestQueues(clock);
    }

    @Bean
    @Primary
    TestStore exactlyOnceTestStore(TestClock clock, Journal journal) {
        return new TestStore(clock, journal);
    }

    @Bean
    ExactlyOnceDriver exactlyOnceDriver(
            TestClock clock, TestQueues queues, TestStore store, Journal journal, ObjectProvider<JsonMapper> json) {
        return new ExactlyOnceDriver(clock, queues, store, journal, json.getIfAvailable(JsonMapper::new));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static FaultAdvisor exactlyOnceFaultAdvisor(
            ObjectProvider<Journal> journal, ObjectProvider<ExactlyOnceDriver> driver) {
        return new FaultAdvisor(journal, driver);
    }

    /**
     * Rejects listeners with {@code effects = DATABASE} before they are created. Otherwise a missing bean, or the
     * engine's own exception, would suggest a remedy that does not help.
     */
    @Bean
    static BeanFactoryPostProcessor exactlyOnceRefusedDatabaseEffects() {
        return beans -> {
            for (String bean : beans.getBeanDefinitionNames()) {
                Class<?> type = beans.containsSingleton(bean) ? null : beans.getType(bean, false);
                if (type != null && ExactlyOnceAdvisor.isListener(type) && hasDatabaseEffects(type)) {
                    throw new InvalidListenerException(
                            "%s has effects = DATABASE, and the test kit keeps claims in memory, which share no transaction with a handler"
                                    .formatted(type.getName()),
                            "test it with a database: @SpringBootTest with exactly-once-spring-boot-servers; name the listeners"
                                    + " that the kit is to test: @ExactlyOnceTest(Others.class)");
                }
            }
        };
    }

    private static boolean hasDatabaseEffects(Class<?> type) {
        Set<Method> methods = MethodIntrospector.selectMethods(
                type, (ReflectionUtils.MethodFilter) method -> hasDatabaseEffects((AnnotatedElement) method));
        return !methods.isEmpty() || hasDatabaseEffects((AnnotatedElement) type);
    }

    private static boolean hasDatabaseEffects(AnnotatedElement element) {
        ExactlyOnceListener says = AnnotatedElementUtils.findMergedAnnotation(element, ExactlyOnceListener.class);
        return says != null && says.effects() == Effects.DATABASE;
    }

    /** Makes the client send deletes at once. Collecting deletes for a second would take long in a test. */
    @Bean
    static BeanPostProcessor exactlyOnceImmediateDeletes() {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                if (bean instanceof SqsMessageListenerContainerFactory<?> factory) {
                    factory.configure(options ->
                            options.acknowledgementInterval(Duration.ZERO).acknowledgementThreshold(0));
                }
                return bean;
            }
        };
    }
}
