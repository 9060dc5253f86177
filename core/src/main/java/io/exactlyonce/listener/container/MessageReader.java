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
 * Converts polled messages with the application's converter, as Spring Cloud AWS does. A message that cannot be
 * converted is returned with backoff. The log has the reason, but not the body, which may contain a card number.
 *
 * <p>On a FIFO queue, later messages of the same group are also returned, so that they do not overtake the unreadable
 * message. If the unreadable message was on its last receive, SQS will not deliver it again, so the later messages are
 * handled.
 *
 * <p>The key of each message is read here, too. Afterwards a large payload is dropped to save memory. It is made again
 * when a thread is free for the handler.
 *
 * @param conversion makes Spring's messages from SQS's messages
 * @param deliveries returns unreadable messages to the queue
 * @param specify determines which key is to be claimed for a message
 */
record MessageReader(MessageConversion conversion, Deliveries deliveries, Consumer<ReceivedMessage> specify) {

    /**
     * If a body has more characters than this, its payload is not kept in memory while the message waits for a thread.
     * The payload is made again for the handler. A payload may take thirty times as much memory as its body, so the
     * payloads of one poll could take 300 MB.
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
     * Reads a message, and returns whether it is readable. Does not throw, so that the other messages of the poll are
     * still read after a crash.
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
                // A delivery cannot be abandoned before it has begun. This one has not begun, so returnUnhandled begins
                // it first.
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
