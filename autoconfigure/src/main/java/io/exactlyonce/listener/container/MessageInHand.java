package io.exactlyonce.listener.container;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.List;
import org.springframework.messaging.Message;

/** A message from its poll until its handler has ended, or it has left without one. */
final class MessageInHand extends HandlerSlots.Place {

    private final ReceivedMessage received;
    private volatile Message<Object> message;

    MessageInHand(Message<Object> polled) {
        this.received = ReceivedMessage.require(polled);
        this.message = polled;
    }

    Delivery delivery() {
        return received.delivery();
    }

    String group() {
        return received.group();
    }

    /** Returns it as it was polled, or as interceptors have handed it on. */
    Message<Object> message() {
        return message;
    }

    /** Interceptors have handed it on as one of these. */
    void handedOn(Collection<Message<Object>> messages) {
        for (Message<Object> each : messages) {
            if (ReceivedMessage.of(each).filter(received::equals).isPresent()) {
                message = each;
            }
        }
    }

    static List<Delivery> deliveries(List<MessageInHand> messages) {
        return messages.stream().map(MessageInHand::delivery).toList();
    }

    static List<Message<Object>> messages(List<MessageInHand> messages) {
        return messages.stream().map(MessageInHand::message).toList();
    }
}
