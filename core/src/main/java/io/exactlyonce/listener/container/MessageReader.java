package io.exactlyonce.listener.container;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.RedactedException;
import io.exactlyonce.boundary.TypeAndPlace;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.queue.RepeatedLines;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.Message;

/**
 * Reads the messages of a poll in their order, converted as Spring Cloud AWS does, with the application's converter. If
 * a message cannot be read, it is returned with backoff. The reason is logged without the body, which may contain a
 * card number. On a FIFO queue the rest of its group is also returned, so that it does not overtake that message,
 * unless that message is on its last receive.
 *
 * <p>Each message gets its claim here. So the payload of a large message need not be kept until there is a thread: the
 * message is read once more for its handler.
 *
 * @param conversion makes Spring's messages of SQS's
 * @param deliveries where unreadable messages are returned
 * @param specify sets a message's claim
 */
record MessageReader(MessageConversion conversion, Deliveries deliveries, Consumer<ReceivedMessage> specify) {

    /**
     * A body with more characters is large. A payload may take thirty times as much memory as its body. So a poll of
     * the largest messages would need 300 MB, and the poll that is received ahead as much again.
     */
    static final int LARGE = 1 << 16;

    private static final Logger log = LoggerFactory.getLogger(MessageReader.class);

    /** Returns the readable messages, each with its delivery attached. */
    List<ReceivedMessage> read(List<ReceivedMessage> polled) {
        List<ReceivedMessage> readable = new ArrayList<>(polled.size());
        Set<String> stoppedGroups = new HashSet<>();
        for (ReceivedMessage received : polled) {
            String group = received.group();
            if (stoppedGroups.contains(group)) {
                returnUnhandled(received.delivery(), deliveries::settleWhileStopping);
            } else if (read(received)) {
                readable.add(received);
            } else if (!group.isEmpty() && !received.delivery().isOnItsLastReceive()) {
                stoppedGroups.add(group);
            }
        }
        return readable;
    }

    /** Makes all messages visible again at once. */
    void returnAll(List<ReceivedMessage> polled) {
        polled.forEach(received -> returnUnhandled(received.delivery(), deliveries::settleWhileStopping));
    }

    /**
     * Reads a message. If reading it crashes, the other messages of its poll are still read. Returns whether the
     * message was read.
     */
    private boolean read(ReceivedMessage received) {
        Delivery delivery = received.delivery();
        boolean[] isRead = {false};
        Boundary.guard(
                "Reading message " + delivery.messageId(),
                () -> {
                    try {
                        convert(received);
                    } catch (Exception unreadable) {
                        logUnreadable(delivery, unreadable);
                        returnUnhandled(delivery, deliveries::settle);
                        return;
                    }
                    specify.accept(received);
                    if (received.polled().body().length() > LARGE) {
                        received.readAgain(() -> convert(received));
                    }
                    isRead[0] = true;
                },
                // The delivery has started, so observers are notified.
                crash -> returnUnhandled(delivery, this::abandon));
        return isRead[0];
    }

    private Message<Object> convert(ReceivedMessage received) {
        return received.attachTo(conversion.convert(received.polled().source()), conversion.context());
    }

    private void returnUnhandled(Delivery delivery, Consumer<Delivery> settling) {
        Boundary.guard(
                "Returning a message that is not handled",
                () -> {
                    deliveries.begin(List.of(delivery));
                    settling.accept(delivery);
                },
                crash -> abandon(delivery));
    }

    private void abandon(Delivery delivery) {
        deliveries.abandon(List.of(delivery));
    }

    private void logUnreadable(Delivery delivery, Exception unreadable) {
        delivery.logLimited(
                RepeatedLines.Kind.UNREADABLE,
                more -> log.error(
                        "{} cannot be read as {}: {}. It is returned, and ends in the dead-letter queue if "
                                + "there is one. Send what the handler takes, or correct its parameter (DEBUG of {} "
                                + "has details){}",
                        delivery,
                        conversion.readAs(),
                        TypeAndPlace.of(unreadable),
                        log.getName(),
                        more));
        log.debug("Why {} cannot be read", delivery, RedactedException.of(unreadable));
    }
}
