package io.exactlyonce.chaos.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

class QueueDisorderTests {

    private static final int ALWAYS = 1;

    private final QueueDisorder disorder = new QueueDisorder(7, ALWAYS);

    @Test
    void messageComesASecondTimeButNeverMoreThanWereRequested() {
        assertThat(disorder.disturb("mails", messages("a", "b"), 2)).hasSize(2);
        assertThat(disorder.disturb("mails", messages("c"), 2)).hasSize(2);
        assertThat(disorder.disturb("mails", messages("d", "e"), 2)).hasSize(2);
    }

    @Test
    void fifoQueuesAndCalmOnesAreLeftAlone() {
        disorder.disturb("steps.fifo", messages("a"), 10);
        assertThat(disorder.disturb("steps.fifo", messages("b", "c"), 10)).isEqualTo(messages("b", "c"));
        disorder.disturb("mails", messages("a"), 10);
        disorder.calm();
        assertThat(disorder.disturb("mails", messages("b", "c"), 10)).isEqualTo(messages("b", "c"));
    }

    private static ArrayNode messages(String... ids) {
        ArrayNode messages = JsonMapper.shared().createArrayNode();
        for (String id : ids) {
            messages.add(JsonMapper.shared().createObjectNode().put("MessageId", id));
        }
        return messages;
    }
}
