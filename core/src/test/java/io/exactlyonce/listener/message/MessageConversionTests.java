package io.exactlyonce.listener.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import java.math.BigDecimal;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.MessageHeaders;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

class MessageConversionTests {

    /** Its initializer tells that the class was loaded. */
    static final class Gadget {
        static {
            System.setProperty("sender-attributes.loaded", "true");
        }
    }

    private static MessageAttributeValue attribute(String type, String value) {
        return MessageAttributeValue.builder().dataType(type).stringValue(value).build();
    }

    private static Message message(Map<String, MessageAttributeValue> attributes) {
        return Message.builder()
                .messageId(UUID.randomUUID().toString())
                .receiptHandle("handle")
                .body("body")
                .attributes(Map.of(MessageSystemAttributeName.SENDER_ID, "stranger"))
                .messageAttributes(attributes)
                .build();
    }

    private static MessageHeaders headers(Map<String, MessageAttributeValue> attributes) {
        return new SqsMessagingMessageConverter()
                .toMessagingMessage(MessageConversion.tame(message(attributes)), null)
                .getHeaders();
    }

    @Test
    void ordinaryMessageStaysTheSame() {
        Message message = message(Map.of(
                "tenant", attribute("String", "acme"),
                "ExactlyOnce-Key", attribute("String", "A-1"),
                "Sqs_Delay", attribute("Number.java.lang.Integer", "1"),
                "count", attribute("Number.int", "7")));

        assertThat(MessageConversion.tame(message)).isSameAs(message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Sqs_VisibilityTimeout",
                "Sqs_QueueName",
                "Sqs_RawMessageId",
                "Sqs_Msa_MessageGroupId",
                "AcknowledgementCallback",
                "micrometer.observation",
                "ExactlyOnce_ReceivedMessage"
            })
    void sendersHeaderThatPassesForTheContainersIsDropped(String name) {
        assertThat(headers(Map.of(name, attribute("String", "forged"))).values())
                .doesNotContain("forged");
    }

    @Test
    void receiptHandleSenderAndSourceAreThoseOfSqs() {
        MessageHeaders headers = headers(Map.of(
                SqsHeaders.SQS_RECEIPT_HANDLE_HEADER, attribute("String", "forged"),
                SqsHeaders.SQS_SOURCE_DATA_HEADER, attribute("String", "forged"),
                SqsHeaders.MessageSystemAttributes.SQS_SENDER_ID, attribute("String", "forged")));

        assertThat(headers)
                .containsEntry(SqsHeaders.SQS_RECEIPT_HANDLE_HEADER, "handle")
                .containsEntry(SqsHeaders.MessageSystemAttributes.SQS_SENDER_ID, "stranger");
        assertThat(headers.get(SqsHeaders.SQS_SOURCE_DATA_HEADER)).isInstanceOf(Message.class);
    }

    @ParameterizedTest
    @CsvSource({
        "Number, java.math.BigDecimal",
        "Number.int, java.lang.Integer",
        "Number.Double, java.lang.Double",
        "Number.java.lang.Long, java.lang.Long",
        "Number.java.math.BigInteger, java.math.BigInteger",
        "Number.cents, java.math.BigDecimal",
        "Number.java.lang.Runtime, java.math.BigDecimal"
    })
    void numbersAreReadAsWhatTheyAreOrPlainly(String type, Class<?> read) {
        assertThat(headers(Map.of("amount", attribute(type, "7"))))
                .hasEntrySatisfying("amount", amount -> assertThat(amount).isInstanceOf(read));
    }

    @Test
    void noClassIsLoadedThatAnAttributesTypeNames() {
        String gadget = Gadget.class.getName();

        assertThat(headers(Map.of("amount", attribute("Number." + gadget, "7"))))
                .containsEntry("amount", new BigDecimal(7));
        assertThat(System.getProperty("sender-attributes.loaded")).isNull();
    }
}
