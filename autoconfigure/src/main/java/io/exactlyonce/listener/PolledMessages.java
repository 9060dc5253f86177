package io.exactlyonce.listener;

import io.exactlyonce.visibility.Subscription;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.messaging.Message;

/**
 * Reads the messages of one poll in their order. What cannot be read is returned; on a FIFO queue the rest of its group
 * is, too, since it must not overtake it; unless the queue gives that one up now.
 */
final class PolledMessages<T> {

    private final MessageReader<T> reader;
    private final Subscription subscription;
    private final long receivedAt;
    private final Set<String> stoppedGroups = new HashSet<>();

    PolledMessages(MessageReader<T> reader, Subscription subscription, long receivedAt) {
        this.reader = reader;
        this.subscription = subscription;
        this.receivedAt = receivedAt;
    }

    /** Returns what can be handled. */
    List<Message<T>> read(Collection<software.amazon.awssdk.services.sqs.model.Message> messages) {
        List<Message<T>> readable = new ArrayList<>(messages.size());
        messages.forEach(message -> read(message).ifPresent(readable::add));
        return readable;
    }

    private Optional<Message<T>> read(software.amazon.awssdk.services.sqs.model.Message message) {
        String group = MessageReader.group(message);
        if (stoppedGroups.contains(group)) {
            reader.returnUnread(message, subscription, receivedAt);
            return Optional.empty();
        }
        Optional<Message<T>> read = reader.read(message, subscription, receivedAt);
        if (read.isEmpty() && !group.isEmpty() && !reader.isOnItsLastReceive(message, subscription)) {
            stoppedGroups.add(group);
        }
        return read;
    }
}
