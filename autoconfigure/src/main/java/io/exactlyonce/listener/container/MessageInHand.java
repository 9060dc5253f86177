package io.exactlyonce.listener.container;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.List;
import org.springframework.messaging.Message;

/** A message from its poll until its handler has ended, or it has left without one. */
final class MessageInHand extends HandlerSlots.Place {

    private final ReceivedMessage received;

    MessageInHand(ReceivedMessage received) {
        this.received = received;
    }

    ReceivedMessage received() {
        return received;
    }

    Delivery delivery() {
        return received.delivery();
    }

    static List<Delivery> deliveries(List<MessageInHand> messages) {
        return messages.stream().map(MessageInHand::delivery).toList();
    }

    static List<Message<Object>> messages(List<MessageInHand> messages) {
        return messages.stream().map(message -> message.received().message()).toList();
    }
}
