package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.MessagingHeaders;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.util.NumberUtils;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * What may become headers of a message's attributes, which its sender chooses: awspring lets them take the place of what it
 * attaches itself, such as the receipt handle, and loads any class that a number's type names.
 */
final class AttributeSanitizer {

    /** Micrometer casts what it finds under this name to an observation. */
    private static final String OBSERVATION = "micrometer.observation";

    /** Senders that use awspring leave it in the attributes. */
    private static final String HARMLESS = SqsHeaders.SQS_DELAY_HEADER;

    private static final Set<String> RESERVED =
            Set.of(ReceivedMessage.HEADER, MessagingHeaders.ACKNOWLEDGMENT_CALLBACK_HEADER, OBSERVATION);

    private static final String NUMBER = "Number";

    /** The types that awspring reads; of any other it would load the class, and run its initializer, before it refuses it. */
    private static final Set<String> NUMBERS = Stream.concat(
                    Stream.of("byte", "short", "int", "long", "float", "double", Number.class.getName()),
                    NumberUtils.STANDARD_NUMBER_TYPES.stream().map(Class::getName))
            .map(type -> type.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet());

    private AttributeSanitizer() {}

    /** Returns the message without attributes that pass for headers of awspring's or ours, and with plain numbers. */
    static Message tame(Message message) {
        Map<String, MessageAttributeValue> sent = message.messageAttributes();
        if (sent.entrySet().stream().allMatch(each -> isTame(each.getKey(), each.getValue()))) {
            return message;
        }
        Map<String, MessageAttributeValue> tame = new LinkedHashMap<>();
        sent.forEach((name, value) -> {
            if (!isReserved(name)) {
                tame.put(name, plain(value));
            }
        });
        return message.toBuilder().messageAttributes(tame).build();
    }

    private static boolean isTame(String name, MessageAttributeValue value) {
        return !isReserved(name) && plain(value).equals(value);
    }

    private static boolean isReserved(String name) {
        return RESERVED.contains(name) || (name.startsWith(SqsHeaders.SQS_HEADER_PREFIX) && !name.equals(HARMLESS));
    }

    private static MessageAttributeValue plain(MessageAttributeValue value) {
        String type = value.dataType();
        boolean named = type != null && type.startsWith(NUMBER + ".");
        return named && !NUMBERS.contains(type.substring(NUMBER.length() + 1).toLowerCase(Locale.ROOT))
                ? value.toBuilder().dataType(NUMBER).build()
                : value;
    }
}
