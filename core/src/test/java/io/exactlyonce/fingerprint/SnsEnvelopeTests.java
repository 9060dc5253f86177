package io.exactlyonce.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class SnsEnvelopeTests {

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String ORDER = "{\"orderId\":\"A-1\",\"amount\":3}";

    private static String body(String body) {
        return Content.ofBody(body).fingerprint();
    }

    private static Map<String, Object> notification() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("Type", "Notification");
        fields.put("MessageId", "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324");
        fields.put("SequenceNumber", "10000000000000000000");
        fields.put("TopicArn", "arn:aws:sns:eu-west-1:123456789012:orders");
        fields.put("Subject", "an order");
        fields.put("Message", ORDER);
        fields.put("Timestamp", "2026-05-02T00:54:06.655Z");
        fields.put("SignatureVersion", "1");
        fields.put("Signature", "EXAMPLEw6JRN...");
        fields.put("SigningCertURL", "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem");
        fields.put("UnsubscribeURL", "https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=1");
        fields.put("MessageAttributes", Map.of("id", Map.of("Type", "String", "Value", "1")));
        return fields;
    }

    private static String with(String name, Object value) {
        Map<String, Object> fields = notification();
        fields.put(name, value);
        return MAPPER.writeValueAsString(fields);
    }

    private static String without(String name) {
        Map<String, Object> fields = notification();
        fields.remove(name);
        return MAPPER.writeValueAsString(fields);
    }

    private static final String SENT = MAPPER.writeValueAsString(notification());

    @ParameterizedTest
    @CsvSource({
        "MessageId, other",
        "SequenceNumber, 2",
        "Timestamp, 2026-05-02T00:54:07.001Z",
        "SignatureVersion, 2",
        "Signature, other",
        "SigningCertURL, https://sns.eu-west-1.amazonaws.com/2.pem",
        "UnsubscribeURL, https://sns.eu-west-1.amazonaws.com/?2",
        "MessageAttributes, other",
        "TopicArn, arn:aws:sns:us-east-1:123456789012:orders"
    })
    void fieldThatSnsChoosesForADeliveryIsNotCompared(String name, String value) {
        assertThat(body(with(name, value))).isEqualTo(body(SENT));
        if (!name.equals("TopicArn")) {
            assertThat(body(without(name))).isEqualTo(body(SENT));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "Message, other",
        "Subject, a cancellation",
        "TopicArn, arn:aws:sns:eu-west-1:123456789012:cancellations",
        "Type, SubscriptionConfirmation",
        "Tenant, two"
    })
    void fieldThatThePublisherChoosesIsCompared(String name, String value) {
        assertThat(body(with(name, value))).isNotEqualTo(body(SENT));
        assertThat(body(without(name))).isEqualTo(body(name.equals("Tenant") ? SENT : without(name)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"amount\":3,\"orderId\":\"A-1\"}",
                "{ \"orderId\" : \"A-1\", \"amount\" : 3 }\n",
                "\uFEFF{\"orderId\":\"\\u0041-1\",\"amount\":3}"
            })
    void publishedMessageIsComparedByItsMeaning(String message) {
        assertThat(body(with("Message", message))).isEqualTo(body(SENT));
    }

    @Test
    void layoutOfTheEnvelopeIsNotCompared() {
        assertThat(body("\uFEFF" + MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(notification()) + "\n"))
                .isEqualTo(body(SENT));
        assertThat(body(SENT.replace("\"TopicArn\"", "\"\\u0054opicArn\""))).isEqualTo(body(SENT));
    }

    /** A message without its envelope does not show the topic and the subject. */
    @Test
    void messageWithoutItsEnvelopeIsAnotherContent() {
        assertThat(body(ORDER)).isNotEqualTo(body(SENT));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "A-1", "42", "[1]", "{", "\u00e9\ud83d", "null"})
    void publishedMessageMayBeAnything(String message) {
        String envelope = with("Message", message);

        assertThat(body(envelope)).isNotEqualTo(body(SENT)).isNotEqualTo(body(message));
        assertThat(body(envelope.replace("00:54:06", "00:54:07"))).isEqualTo(body(envelope));
    }

    /** Time and id are ignored only in an envelope, and an envelope has all three fields. */
    @ParameterizedTest
    @ValueSource(strings = {"Type", "TopicArn", "Message"})
    void documentWithoutAFieldOfEachEnvelopeIsComparedAsAWhole(String name) {
        String document = without(name);

        assertThat(body(document.replace("00:54:06", "00:54:07"))).isNotEqualTo(body(document));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"Type\":\"Notification\",\"TopicArn\":\"a:b\",\"Message\":{\"id\":1},\"Timestamp\":\"1\"}",
                "{\"Type\":\"Notification\",\"TopicArn\":\"a:b\",\"Message\":null,\"Timestamp\":\"1\"}",
                "{\"Type\":\"Notification\",\"TopicArn\":7,\"Message\":\"m\",\"Timestamp\":\"1\"}",
                "{\"Type\":[\"Notification\"],\"TopicArn\":\"a:b\",\"Message\":\"m\",\"Timestamp\":\"1\"}",
                "{\"Type\":\"Notification\",\"Type\":\"Notification\",\"TopicArn\":\"a:b\",\"Message\":\"m\",\"Timestamp\":\"1\"}",
                "{\"Type\":\"Notification\",\"TopicArn\":\"a:b\",\"Message\":\"l\",\"Message\":\"m\",\"Timestamp\":\"1\"}",
                "{\"Type\":\"Notification\",\"TopicArn\":\"a:b\",\"Message\":\"m\",\"Message\":1,\"Timestamp\":\"1\"}",
                "{\"type\":\"Notification\",\"topicArn\":\"a:b\",\"message\":\"m\",\"Timestamp\":\"1\"}",
                "[{\"Type\":\"Notification\",\"TopicArn\":\"a:b\",\"Message\":\"m\",\"Timestamp\":\"1\"}]",
                "{\"detail\":{\"Type\":\"Notification\",\"TopicArn\":\"a:b\",\"Message\":\"m\",\"Timestamp\":\"1\"}}"
            })
    void documentThatOnlyResemblesAnEnvelopeIsComparedAsAWhole(String document) {
        assertThat(body(document.replace("\"Timestamp\":\"1\"", "\"Timestamp\":\"2\"")))
                .isNotEqualTo(body(document));
    }

    /** The fingerprint of an envelope separates the envelope's parts, so one part cannot imitate another part. */
    @Test
    void partsOfAnEnvelopeCannotPassForOneAnother() {
        String one = with("Subject", "a");
        String two = with("Message", "\"Subject\":\"a\"");

        assertThat(body(one)).isNotEqualTo(body(two));
        assertThat(body(with("Message", SENT))).isNotEqualTo(body(SENT));
    }
}
