package io.exactlyonce.sample.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Answers.RETURNS_DEEP_STUBS;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.RETURNS_SELF;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.awspring.cloud.sqs.operations.SqsSendOptions;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.test.kit.CrashPoint;
import io.exactlyonce.test.kit.Delivered;
import io.exactlyonce.test.kit.ExactlyOnceDriver;
import io.exactlyonce.test.kit.ExactlyOnceTest;
import io.exactlyonce.test.kit.TestMessage;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;
import org.mockito.ArgumentMatchers;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** The order handler with duplicates, a crash and a lost claim, as an example of the test kit. */
@ExactlyOnceTest(ExactlyOnceOrders.class)
@EnableConfigurationProperties(OrdersProperties.class)
@ActiveProfiles("exactly-once")
class ExactlyOnceOrdersTests {

    private static final Order ORDER = new Order("A-1", 4_990);

    @Autowired
    private ExactlyOnceDriver driver;

    @MockitoBean
    private Provider provider;

    @MockitoBean
    private SqsTemplate sqs;

    private final SqsSendOptions<Shipment> sent = mock(RETURNS_SELF);

    @MockitoBean(answers = RETURNS_DEEP_STUBS)
    private JdbcClient database;

    @BeforeEach
    void charge() {
        given(provider.charge(any(), any(), anyBoolean())).willReturn("charge-1");
    }

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
    void redeliveredOrderIsChargedOnce() {
        Delivered first = driver.deliverPayload(ORDER);

        assertThat(first).wasHandled();
        assertThat(driver.redeliver(first)).wasSuppressed();
        verify(provider, times(1)).charge(eq(ORDER), any(), eq(false));
    }

    @Test
    void orderIsChargedWithTheSameKeyAfterACrash() {
        Delivered first = driver.deliver(TestMessage.ofPayload(ORDER).crashAt(CrashPoint.AFTER_HANDLER));

        assertThat(driver.redeliver(first)).wasHandled().wasAttempt(2);
        ArgumentCaptor<String> keys = ArgumentCaptor.forClass(String.class);
        ArgumentCaptor<Boolean> doubts = ArgumentCaptor.forClass(Boolean.class);
        verify(provider, times(2)).charge(eq(ORDER), keys.capture(), doubts.capture());
        assertThat(doubts.getAllValues()).containsExactly(false, true);
        List<String> used = keys.getAllValues();
        assertThat(used.get(0)).isNotBlank().isEqualTo(used.get(1));
    }

    @Test
    void shipmentHasTheSameKeyAfterACrash() {
        Delivered first = driver.deliver(TestMessage.ofPayload(ORDER).crashAt(CrashPoint.AFTER_HANDLER));
        driver.redeliver(first);

        ArgumentCaptor<Map<String, Object>> headers = ArgumentCaptor.captor();
        verify(sent, times(2)).headers(headers.capture());
        assertThat(headers.getAllValues()).hasSize(2).containsOnly(headers.getValue());
        verify(sent, times(2)).payload(new Shipment(ORDER.orderId()));
    }

    @Test
    void orderWhoseClaimIsLostIsNotCharged() {
        Delivered lost = driver.deliver(TestMessage.ofPayload(ORDER).loseClaim());

        assertThat(lost).wasAbandoned();
        verify(provider, never()).charge(any(), any(), anyBoolean());
    }

    @Test
    void handlerThatIsStoppedWhileItChargesSendsNoConfirmation() {
        given(provider.charge(any(), any(), anyBoolean())).willAnswer(call -> {
            driver.loseClaim();
            new CountDownLatch(1).await();
            return "never";
        });

        assertThat(driver.deliverPayload(ORDER)).wasAbandoned();
        verify(provider, never()).sendConfirmation(any());
    }
}
