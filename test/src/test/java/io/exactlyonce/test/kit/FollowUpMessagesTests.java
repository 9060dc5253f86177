package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.RETURNS_SELF;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.awspring.cloud.sqs.operations.SqsSendOptions;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.FollowUp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;
import org.mockito.ArgumentMatchers;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** The application's SqsTemplate is a mock. A test reads a handler's messages and their keys from the mock. */
@ExactlyOnceTest
class FollowUpMessagesTests {

    record Order(String orderId) {}

    record Shipment(String orderId) {}

    static class Fulfilment {

        private final SqsTemplate sqs;

        Fulfilment(SqsTemplate sqs) {
            this.sqs = sqs;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId")
        void fulfil(Order order, Claim claim) {
            sqs.send(to -> to.queue("shipments")
                    .payload(new Shipment(order.orderId()))
                    .headers(claim.followUp("shipped").headers()));
        }
    }

    static class Shipping {

        private final List<String> shipped = new ArrayList<>();

        List<String> shipped() {
            return shipped;
        }

        @ExactlyOnceListener(queueNames = "shipments")
        void ship(Shipment shipment) {
            shipped.add(shipment.orderId());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        static Fulfilment fulfilment(SqsTemplate sqs) {
            return new Fulfilment(sqs);
        }

        @Bean
        static Shipping shipping() {
            return new Shipping();
        }
    }

    @Autowired
    private Shipping shipping;

    // tag::follow-up
    @Autowired
    private ExactlyOnceDriver driver;

    @MockitoBean
    private SqsTemplate sqs;

    private final SqsSendOptions<Shipment> sent = mock(RETURNS_SELF);

    private final ArgumentCaptor<Map<String, Object>> headers = ArgumentCaptor.captor();

    /** SqsTemplate reads the options while the handler has its claim, and so does the mock. */
    @BeforeEach
    void readOptions() {
        given(sqs.send(ArgumentMatchers.<Consumer<SqsSendOptions<Shipment>>>any()))
                .willAnswer(send -> {
                    send.<Consumer<SqsSendOptions<Shipment>>>getArgument(0).accept(sent);
                    return null;
                });
    }

    @Test
    void rerunSendsTheSameShipmentWhichHasItsEffectOnce() {
        Delivered first = driver.deliver(
                TestMessage.ofPayload(new Order("A-1")).to("orders").crashAt(CrashPoint.AFTER_HANDLER));
        driver.redeliver(first);

        verify(sent, times(2)).queue("shipments");
        verify(sent, times(2)).payload(new Shipment("A-1"));
        verify(sent, times(2)).headers(headers.capture());
        assertThat(headers.getAllValues()).containsOnly(headers.getValue());

        String key = (String) headers.getValue().get(FollowUp.KEY_ATTRIBUTE);
        TestMessage shipment =
                TestMessage.ofPayload(new Shipment("A-1")).to("shipments").key(key);
        assertThat(driver.deliver(shipment)).wasHandled();
        assertThat(driver.deliver(shipment)).wasSuppressed();
    }
    // end::follow-up

    @Test
    void eachOrderSendsAnotherKeyAndAFailedSendFailsTheDelivery() {
        driver.deliver(TestMessage.ofPayload(new Order("A-2")).to("orders"));
        driver.deliver(TestMessage.ofPayload(new Order("A-3")).to("orders"));

        verify(sent, times(2)).headers(headers.capture());
        assertThat(headers.getAllValues()).doesNotHaveDuplicates();

        doThrow(new IllegalStateException("SQS is down"))
                .when(sqs)
                .send(ArgumentMatchers.<Consumer<SqsSendOptions<Shipment>>>any());
        assertThat(driver.deliver(TestMessage.ofPayload(new Order("A-4")).to("orders")))
                .wasReturned();
        assertThat(shipping.shipped()).doesNotContain("A-2", "A-3", "A-4");
    }
}
