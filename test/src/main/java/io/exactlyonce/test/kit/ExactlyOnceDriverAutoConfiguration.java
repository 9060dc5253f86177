package io.exactlyonce.test.kit;

import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import java.time.Duration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Role;
import tools.jackson.databind.json.JsonMapper;

/** Puts time, queues and claims that tests decide in the place of the real ones. All else is the starter's. */
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

    /** Deletes are not gathered for a second, which is a long time in a test. */
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
