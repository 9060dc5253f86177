package io.exactlyonce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.support.converter.SqsHeaderMapper;
import io.exactlyonce.claim.ClaimKey;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.MessageHeaders;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

class FollowUpTests {

    private static final String KEY = new ClaimKey("orders", "A-1").downstreamKey("shipped");

    private final FollowUp followUp = new FollowUp(KEY);

    /** Spring Cloud AWS sends each header as an attribute, and SQS allows ten attributes. */
    @Test
    void headersOfAStandardQueueAreOneAttribute() {
        Message sent = asSent(followUp.headers());

        assertThat(sent.messageAttributes()).isEqualTo(followUp.attributes());
        assertThat(sent.messageAttributes().get("ExactlyOnce-Key").stringValue())
                .isEqualTo(KEY);
        assertThat(sent.attributes()).isEmpty();
    }

    @Test
    void headersOfAFifoQueueAlsoHaveTheDeduplicationId() {
        Message sent = asSent(followUp.fifoHeaders());

        assertThat(sent.messageAttributes()).isEqualTo(followUp.attributes());
        assertThat(sent.attributes()).isEqualTo(Map.of(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID, KEY));
    }

    /** An outbox stores the follow-up in the JSON of an event. */
    @Test
    void jsonOfItHasOnlyTheKey() {
        String json = JsonMapper.shared().writeValueAsString(followUp);

        assertThat(json).isEqualTo("{\"key\":\"%s\"}".formatted(KEY));
        assertThat(JsonMapper.shared().readValue(json, FollowUp.class)).isEqualTo(followUp);
        assertThatThrownBy(() -> JsonMapper.shared().readValue("{\"key\":\"A-1\"}", FollowUp.class))
                .isInstanceOf(JacksonException.class)
                .hasMessageContaining("64 hexadecimal digits");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "A-1", "shipped", "g", "ABCDEF"})
    void keyOfAnotherKindIsRefused(String key) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new FollowUp(key))
                .withMessageContaining("key (%d characters)".formatted(key.length()))
                .withMessageContaining("take it from claim.followUp(name) while the handler runs");
        assertThatIllegalArgumentException().isThrownBy(() -> new FollowUp(KEY.substring(1) + "\u0663"));
        assertThatIllegalArgumentException().isThrownBy(() -> new FollowUp(KEY + "0"));
    }

    private static Message asSent(Map<String, Object> headers) {
        return new SqsHeaderMapper().fromHeaders(new MessageHeaders(new HashMap<>(headers)));
    }
}
