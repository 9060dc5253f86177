package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoInteractions;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.StoredResultException;
import io.exactlyonce.test.kit.ExactlyOnceDriverTests.Shop;
import io.exactlyonce.test.kit.Till.Order;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/** A whole application in the test kit. No server has the addresses of its own client and database. */
@SpringBootTest(
        properties = {
            "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none",
            "spring.cloud.aws.region.static=eu-central-1"
        })
@AutoConfigureExactlyOnceDriver
class WholeApplicationTests {

    private static final SqsAsyncClient OWN = mock(SqsAsyncClient.class);

    @Autowired
    private ExactlyOnceDriver driver;

    @Autowired
    private ExactlyOnceOperations operations;

    @MockitoBean
    private Till till;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Shop.class)
    static class Application {

        @Bean
        SqsAsyncClient ownClient() {
            return OWN;
        }
    }

    @Test
    void needsNeitherItsClientNorItsDatabase() throws InterruptedException {
        Delivered first = driver.deliverPayload(new Order("A-1", 500));

        assertThat(first).wasHandled();
        assertThat(driver.redeliver(first)).wasSuppressed();
        verify(till, times(1)).charge(any(), any());
        verifyNoInteractions(OWN);
    }

    @Test
    void operationsHaveTheSameClaims() {
        driver.deliverPayload(new Order("A-2", 500));

        assertThatThrownBy(() -> operations.once("orders", "A-2").call(String.class, claim -> "again"))
                .isInstanceOf(StoredResultException.class);
    }
}
