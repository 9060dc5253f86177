package io.exactlyonce.listener.container;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.RedactedException;
import io.exactlyonce.boundary.TypeAndPlace;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.visibility.RepeatedLines;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the messages of a poll in their order, converted as Spring Cloud AWS does, with the application's converter. If
 * a message cannot be read, it logs the reason without the body, which may hold a card number, and returns it with
 * backoff. On a FIFO queue the rest of its group is also returned, since it must not overtake that message, unless that
 * message is on its last receive.
 *
 * <p>Each message gets its claim here, so that the payload of a large one need not be kept until there is a thread for it: it is
 * read once more for its handler.
 *
 * @param conversion makes Spring's messages of SQS's
 * @param deliveries where unreadable messages are returned
 * @param specify sets a message's claim
 */
record MessageReader(MessageConversion conversion, Deliveries deliveries, Consumer<ReceivedMessage> specify) {

    /**
     * More characters make a body large. A payload may take thirty times its body: a poll's worth of the largest messages would
     * have 300 MB, and as much again would be received ahead.
     */
    static final int LARGE = 1 << 16;

    private static final Logger log = LoggerFactory.getLogger(MessageReader.class);

    /** Returns the readable messages, each with its delivery attached. */
    List<ReceivedMessage> read(List<Arrival> polled) {
        List<ReceivedMessage> readable = new ArrayList<>(polled.size());
        Set<String> stoppedGroups = new HashSet<>();
        for (Arrival arrival : polled) {
            Delivery delivery = arrival.delivery();
            if (stoppedGroups.contains(arrival.group())) {
                returnUnhandled(delivery, deliveries::settleWhileStopping);
            } else if (!read(arrival, delivery, readable)
                    && !arrival.group().isEmpty()
                    && !delivery.isOnItsLastReceive()) {
                stoppedGroups.add(arrival.group());
            }
        }
        return readable;
    }

    /** Makes all visible again at once. */
    void returnAll(List<Arrival> polled) {
        polled.forEach(arrival -> returnUnhandled(arrival.delivery(), deliveries::settleWhileStopping));
    }

    /** A message whose reading crashes costs no other of its poll its receive. Returns whether it was read. */
    private boolean read(Arrival arrival, Delivery delivery, List<ReceivedMessage> readable) {
        int before = readable.size();
        Boundary.guard(
                "Reading message " + delivery.messageId(),
                () -> {
                    ReceivedMessage received;
                    try {
                        received = readable(arrival, delivery);
                    } catch (Exception unreadable) {
                        logUnreadable(delivery, unreadable);
                        returnUnhandled(delivery, deliveries::settle);
                        return;
                    }
                    specify.accept(received);
                    if (received.polled().body().length() > LARGE) {
                        received.readAgain(() -> read(received, arrival));
                    }
                    readable.add(received);
                },
                // Begun, so that observers are notified.
                crash -> returnUnhandled(delivery, this::abandon));
        return readable.size() > before;
    }

    private ReceivedMessage readable(Arrival arrival, Delivery delivery) {
        SqsMessage polled = new SqsMessage(arrival.subscription().queue(), arrival.message());
        ReceivedMessage received = new ReceivedMessage(delivery, polled, arrival.group());
        read(received, arrival);
        return received;
    }

    private org.springframework.messaging.Message<Object> read(ReceivedMessage received, Arrival arrival) {
        return received.attachTo(conversion.convert(arrival.message()), conversion.context());
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
