package io.exactlyonce.listener.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.listener.method.ListenerRig;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;

class ReceivedMessageTests {

    private final ReceivedMessage received = ListenerRig.received();

    @Test
    void deliveryTravelsWithItsMessage() {
        Message<String> message = ListenerRig.attach(received, ListenerRig.message(Map.of("tenant", "acme")));

        assertThat(ReceivedMessage.of(message)).containsSame(received);
        assertThat(message.getHeaders()).containsEntry("tenant", "acme");
    }

    @Test
    void deliverySurvivesACopyOfTheMessage() {
        Message<String> message = ListenerRig.attach(received, ListenerRig.message(Map.of()));
        Message<Integer> copy =
                MessageBuilder.withPayload(1).copyHeaders(message.getHeaders()).build();

        assertThat(ReceivedMessage.of(copy)).containsSame(received);
    }

    @Test
    void sendersHeaderOfTheSameNameDoesNotWin() {
        Message<String> forged = ListenerRig.message(Map.of("ExactlyOnce_ReceivedMessage", "forged"));

        assertThat(ReceivedMessage.of(forged)).isEmpty();
        assertThat(ReceivedMessage.of(received.attachTo(forged, null))).containsSame(received);
    }
}
