package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.listener.message.SqsMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

class AnswerDatesTests {

    /** 1 October 2026, 12:00:00 UTC. */
    private static final long NOON = 1_790_856_000_000L;

    private static final String DATE = "Thu, 01 Oct 2026 12:00:10 GMT";

    private final AnswerDates dates = new AnswerDates();
    private final List<String> told = new ArrayList<>();

    @Test
    void ageIsTakenFromTheAnswersOwnDate() {
        tell(DATE, message("3", Long.toString(NOON)), message("1", Long.toString(NOON + 9_000)));
        tell(DATE, message("1", Long.toString(NOON + 10_700)));

        assertThat(told).containsExactly("3 PT10S", "1 PT1S", "1 PT0S");
    }

    @Test
    void whatTheAnswerOrTheMessageDoesNotSayIsUnknown() {
        tell(null, message("1", Long.toString(NOON)));
        tell("yesterday", message("1", Long.toString(NOON)));
        tell(DATE, message("2", null), message("many", "noon"));
        tell(ReceiveMessageResponse.builder()
                .messages(message("4", Long.toString(NOON)))
                .build());

        assertThat(told).containsExactly("1 null", "1 null", "2 null", "1 null", "4 null");
    }

    @Test
    void countThatNoQueueGivesIsTheNearestOneAndAnImpossibleAgeIsUnknown() {
        String noon = Long.toString(NOON);
        tell(DATE, message("-3000000000", noon), message("0", noon), message("3000000000", noon), message("1.5", noon));
        tell("Fri, 31 Dec 9999 23:59:59 GMT", message("1", "0"));
        tell(DATE, message("1", Long.toString(Long.MAX_VALUE)), message("1", Long.toString(Long.MIN_VALUE)));

        assertThat(told)
                .containsExactly("1 PT10S", "1 PT10S", "2147483647 PT10S", "1 PT10S", "1 null", "1 PT0S", "1 null");
    }

    private void tell(@Nullable String date, Message... messages) {
        SdkHttpResponse.Builder http = SdkHttpResponse.builder().statusCode(200);
        if (date != null) {
            http.putHeader("Date", date);
        }
        ReceiveMessageResponse.Builder response =
                ReceiveMessageResponse.builder().messages(messages);
        tell((ReceiveMessageResponse) response.sdkHttpResponse(http.build()).build());
    }

    private void tell(ReceiveMessageResponse response) {
        Instant answeredAt = dates.of(response.sdkHttpResponse());
        response.messages().stream()
                .map(message -> new SqsMessage("orders", message))
                .forEach(message -> told.add(message.receiveCount() + " " + message.age(answeredAt)));
    }

    private static Message message(String receives, @Nullable String sent) {
        Map<MessageSystemAttributeName, String> attributes = sent == null
                ? Map.of(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, receives)
                : Map.of(
                        MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT,
                        receives,
                        MessageSystemAttributeName.SENT_TIMESTAMP,
                        sent);
        return Message.builder().messageId("m").attributes(attributes).build();
    }
}
