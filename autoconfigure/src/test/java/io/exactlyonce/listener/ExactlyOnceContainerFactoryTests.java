package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.config.SqsEndpoint;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.env.StandardEnvironment;

class ExactlyOnceContainerFactoryTests {

    private final ExactlyOnceContainerFactory factory = new ExactlyOnceContainerFactoryConfigurer(
                    new StandardEnvironment(), () -> {
                        throw new IllegalStateException("the database was asked");
                    })
            .prepareDefault(new DefaultListableBeanFactory());

    @Test
    void databaseIsProvedReadyBeforeTheContainerIsMade() {
        assertThatThrownBy(() -> factory.createContainer(endpoint("orders"))).hasMessage("the database was asked");
    }

    @Test
    void containerWithoutAListenerMethodIsRefused() {
        assertThatThrownBy(() -> factory.createContainer("orders"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("@ExactlyOnceListener");
    }

    private static SqsEndpoint endpoint(String... queues) {
        return SqsEndpoint.builder()
                .id("fulfilment")
                .queueNames(List.of(queues))
                .factoryBeanName("factory")
                .build();
    }
}
