package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

class ExactlyOnceContainerFactoryConfigurerTests {

    @Test
    void usualContainerFactoryIsTakenBeforeAnyOther() {
        var usual = new SqsMessageListenerContainerFactory<>();
        var other = new SqsMessageListenerContainerFactory<>();
        var beans = new StaticListableBeanFactory();
        beans.addBean("other", other);

        assertThat(ExactlyOnceContainerFactoryConfigurer.original(beans)).isSameAs(other);

        beans.addBean(EndpointRegistrar.DEFAULT_LISTENER_CONTAINER_FACTORY_BEAN_NAME, usual);
        assertThat(ExactlyOnceContainerFactoryConfigurer.original(beans)).isSameAs(usual);
    }
}
