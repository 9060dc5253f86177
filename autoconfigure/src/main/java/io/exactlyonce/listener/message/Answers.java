package io.exactlyonce.listener.message;

import io.exactlyonce.visibility.Subscription;
import java.util.List;
import java.util.stream.Stream;
import software.amazon.awssdk.services.sqs.model.Message;

/** The messages of one poll, which may have taken several requests. */
public final class Answers {

    private final List<Answer> answers;

    /**
     * SQS's answer to one request.
     *
     * @param subscription as it was when the request was sent, so with the window that was asked for
     * @param receivedAt when the windows of these messages began, or earlier
     */
    public record Answer(List<Message> messages, Subscription subscription, long receivedAt) {

        public Answer with(Subscription revised) {
            return new Answer(messages, revised, receivedAt);
        }
    }

    public Answers(List<Answer> answers) {
        this.answers = answers;
    }

    public List<Answer> each() {
        return answers;
    }

    public Answers and(Answers others) {
        return new Answers(
                Stream.concat(answers.stream(), others.answers.stream()).toList());
    }

    public int size() {
        return answers.stream().mapToInt(answer -> answer.messages().size()).sum();
    }
}
