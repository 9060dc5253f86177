package io.exactlyonce.listener.message;

import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * What an answer of SQS tells of its messages: how often each was received, and how old it was. Ages are taken from the
 * answer's own date, so that no clock of this machine is held against the queue's.
 */
public final class Arrivals {

    private static final String DATE = "Date";

    private Arrivals() {}

    /** Tells an observer of each message. */
    public static void tell(DeliveryObserver observer, Subscription asked, ReceiveMessageResponse response) {
        if (response.messages().isEmpty()) {
            return;
        }
        Instant answered = date(response.sdkHttpResponse()).orElse(null);
        for (Message message : response.messages()) {
            observer.on(new DeliveryEvent.Received(asked, MessageReader.receiveCount(message), age(message, answered)));
        }
    }

    private static Optional<Instant> date(@Nullable SdkHttpResponse response) {
        try {
            return response == null
                    ? Optional.empty()
                    : response.firstMatchingHeader(DATE)
                            .map(date -> ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                                    .toInstant());
        } catch (DateTimeException unknown) {
            return Optional.empty();
        }
    }

    /** A date has whole seconds, so a message that was sent in this one would be younger than nothing. */
    private static @Nullable Duration age(Message message, @Nullable Instant answered) {
        String sent = message.attributesAsStrings().get(MessageSystemAttributeName.SENT_TIMESTAMP.toString());
        if (answered == null || sent == null) {
            return null;
        }
        try {
            Duration age = Duration.between(Instant.ofEpochMilli(Long.parseLong(sent)), answered);
            return age.isNegative() ? Duration.ZERO : age;
        } catch (NumberFormatException unknown) {
            return null;
        }
    }
}
