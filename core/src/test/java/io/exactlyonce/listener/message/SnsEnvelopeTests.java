package io.exactlyonce.listener.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.delivery.ResultSerializer;
import io.exactlyonce.delivery.TestResults;
import io.exactlyonce.listener.HostileMessages;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class SnsEnvelopeTests {

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final ResultSerializer JSON =
            TestResults.reading((json, type) -> MAPPER.readValue(json, MAPPER.constructType(type)));

    @Test
    void payloadIsWhatTheEnvelopeCarries() {
        assertThat(SnsEnvelope.of("{\"Type\":\"Notification\",\"MessageId\":\"1\",\"Message\":\"A-1\"}", JSON))
                .isEqualTo("A-1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "1",
                "[]",
                "{}",
                "\"Message\"",
                "{\"Message\":null}",
                "{\"Message\":{\"Message\":\"x\"}}",
                "{\"message\":\"x\"}",
                "no JSON\0",
                "[{\"Message\":\"x\"}]"
            })
    void bodyThatIsNoEnvelopeIsItsOwnPayload(String body) {
        assertThat(SnsEnvelope.of(body, JSON)).isEqualTo(body);
    }

    @Test
    void anyBodyHasAPayload() {
        HostileMessages hostile = new HostileMessages(Long.getLong("hostile.seed", System.nanoTime()));
        for (int number = 0; number < 500; number++) {
            assertThat(SnsEnvelope.of(hostile.body(), JSON)).isNotNull();
        }
    }
}
