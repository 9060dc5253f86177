package io.exactlyonce.listener.message;

import io.exactlyonce.listener.message.Answers.Answer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.messaging.Message;

/**
 * Reads the messages of one poll in their order. A message that cannot be read is returned; on a FIFO queue the rest of
 * its group is, too, since it must not overtake that message, unless the queue gives that message up now.
 */
public final class PolledMessages<T> {

    private final MessageReader<T> reader;
    private final Answers answers;
    private final Set<String> stoppedGroups = new HashSet<>();

    public PolledMessages(MessageReader<T> reader, Answers answers) {
        this.reader = reader;
        this.answers = answers;
    }

    /** Returns what can be handled. */
    public List<Message<T>> read() {
        List<Message<T>> readable = new ArrayList<>(answers.size());
        for (Answer answer : answers.each()) {
            answer.messages().forEach(message -> read(message, answer).ifPresent(readable::add));
        }
        return readable;
    }

    private Optional<Message<T>> read(software.amazon.awssdk.services.sqs.model.Message message, Answer answer) {
        String group = MessageReader.group(message);
        if (stoppedGroups.contains(group)) {
            reader.returnUnread(message, answer.subscription(), answer.receivedAt());
            return Optional.empty();
        }
        Optional<Message<T>> read = reader.read(message, answer.subscription(), answer.receivedAt());
        if (read.isEmpty() && !group.isEmpty() && !reader.isOnItsLastReceive(message, answer.subscription())) {
            stoppedGroups.add(group);
        }
        return read;
    }

    /** Makes all visible again at once. */
    public void returnAll() {
        for (Answer answer : answers.each()) {
            answer.messages()
                    .forEach(message -> reader.returnUnread(message, answer.subscription(), answer.receivedAt()));
        }
    }
}
