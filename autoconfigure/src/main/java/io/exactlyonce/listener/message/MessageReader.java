package io.exactlyonce.listener.message;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.Answers.Answer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.MessageHeaders;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * Reads the messages of a poll in their order, converted as awspring does, with the application's converter. Of a message that
 * cannot be read it logs what is wrong without the body, which may hold a card number, and returns it with backoff. On a FIFO
 * queue the rest of its group is returned, too, since it must not overtake that message, unless the queue gives that message up
 * now.
 */
public final class MessageReader<T> {

    private static final Logger log = LoggerFactory.getLogger(MessageReader.class);

    /** On a standard queue groups are for fairness only, and keep no order: a message that stays must not stop the others. */
    private static final String NO_GROUP = "";

    private final MessageConversion conversion;
    private final Deliveries deliveries;

    /**
     * Makes a reader.
     *
     * @param conversion makes Spring's messages of SQS's
     * @param deliveries where unreadable messages are returned
     */
    public MessageReader(MessageConversion conversion, Deliveries deliveries) {
        this.conversion = conversion;
        this.deliveries = deliveries;
    }

    /** Returns what can be handled, each message with its delivery attached. */
    public List<org.springframework.messaging.Message<T>> read(Answers polled) {
        List<org.springframework.messaging.Message<T>> readable = new ArrayList<>(polled.size());
        Set<String> stoppedGroups = new HashSet<>();
        for (Answer answer : polled.each()) {
            for (Message message : answer.messages()) {
                Delivery delivery = delivery(message, answer);
                String group = answer.subscription().isFifo() ? group(message) : NO_GROUP;
                if (stoppedGroups.contains(group)) {
                    returnUnread(delivery);
                } else if (!read(message, group, delivery, readable)
                        && !group.isEmpty()
                        && !delivery.isOnItsLastReceive()) {
                    stoppedGroups.add(group);
                }
            }
        }
        return readable;
    }

    /** Makes all visible again at once. */
    public void returnAll(Answers polled) {
        for (Answer answer : polled.each()) {
            answer.messages().forEach(message -> returnUnread(delivery(message, answer)));
        }
    }

    /** A message whose reading crashes costs no other of its poll its receive. Returns whether it was read. */
    private boolean read(
            Message message, String group, Delivery delivery, List<org.springframework.messaging.Message<T>> readable) {
        int before = readable.size();
        Boundary.guard(
                "Reading message " + message.messageId(),
                () -> {
                    try {
                        readable.add(readable(message, group, delivery));
                    } catch (Exception unreadable) {
                        returnUnreadable(delivery, unreadable);
                    }
                },
                crash -> {
                    // So that observers are told of it.
                    deliveries.begin(List.of(delivery));
                    deliveries.abandon(List.of(delivery));
                });
        return readable.size() > before;
    }

    private org.springframework.messaging.Message<T> readable(Message message, String group, Delivery delivery) {
        org.springframework.messaging.Message<T> converted = convert(message);
        org.springframework.messaging.Message<T> received = new ReceivedMessage(
                        delivery, PolledMessage.keyAttribute(message), group, message.body())
                .attachTo(converted, RenewingVisibility.header(converted, delivery, conversion.context()));
        // Of the message that goes on: the other one's headers would be kept as long as the delivery.
        MessageHeaders headers = received.getHeaders();
        delivery.sentWith(name -> headers.get(name) instanceof String text ? text : null);
        return received;
    }

    private void returnUnread(Delivery delivery) {
        giveBack(delivery, deliveries::settleWhileStopping);
    }

    private void giveBack(Delivery delivery, Consumer<Delivery> settling) {
        Boundary.guard(
                "Returning a message that is not handled",
                () -> {
                    deliveries.begin(List.of(delivery));
                    settling.accept(delivery);
                },
                crash -> deliveries.abandon(List.of(delivery)));
    }

    private static Delivery delivery(Message message, Answer answer) {
        return new Delivery(
                answer.subscription(),
                message.messageId(),
                message.receiptHandle(),
                receiveCount(message),
                answer.receivedAt());
    }

    @SuppressWarnings("unchecked") // The converter makes what the listener takes, as in awspring.
    private org.springframework.messaging.Message<T> convert(Message message) {
        return (org.springframework.messaging.Message<T>) conversion.convert(message);
    }

    private void returnUnreadable(Delivery delivery, Throwable unreadable) {
        Class<?> payloadType = conversion.payloadType();
        log.error(
                "{} cannot be read as {}: {}. It is returned, and ends in the dead-letter queue if there is one. Send"
                        + " what the handler takes, or correct its parameter (DEBUG of {} tells more)",
                delivery,
                payloadType == null ? "its payload type" : payloadType.getName(),
                UnreadableReason.of(unreadable),
                log.getName());
        log.debug("Why {} cannot be read", delivery, FailureOutline.of(unreadable));
        giveBack(delivery, deliveries::settle);
    }

    private static String group(Message message) {
        return attribute(message, MessageSystemAttributeName.MESSAGE_GROUP_ID, NO_GROUP);
    }

    /** One that is absent, or that a server other than AWS does not give as a number, counts as the first. */
    public static int receiveCount(Message message) {
        try {
            return Integer.parseInt(attribute(message, MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, "1"));
        } catch (NumberFormatException unknown) {
            return 1;
        }
    }

    /** By text: to answer by enum constant, the message copies all of its attributes each time. */
    private static String attribute(Message message, MessageSystemAttributeName name, String absent) {
        return message.attributesAsStrings().getOrDefault(name.toString(), absent);
    }
}
