package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.delivery.ResultSerializer;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;

/**
 * The content of an SNS notification, which an SQS message carries in an envelope. Envelopes always differ: only the
 * content shows whether two messages are equal.
 */
public final class SnsEnvelope {

    private static final String MESSAGE = "Message";

    private SnsEnvelope() {}

    /** Returns whether a method takes messages out of their envelopes. */
    public static boolean isTakenBy(Method method) {
        return IntStream.range(0, method.getParameterCount())
                .mapToObj(index -> new MethodParameter(method, index))
                .anyMatch(SnsEnvelope::isTaken);
    }

    private static boolean isTaken(MethodParameter parameter) {
        return parameter.hasParameterAnnotation(SnsNotificationMessage.class)
                || carriesNotifications(ResolvableType.forMethodParameter(parameter));
    }

    /** Returns whether a type is a notification, or a list or a message of such. */
    private static boolean carriesNotifications(ResolvableType type) {
        Class<?> raw = type.toClass();
        return SnsNotification.class.isAssignableFrom(raw)
                || ((raw == List.class || Message.class.isAssignableFrom(raw))
                        && carriesNotifications(type.getGeneric(0)));
    }

    /** Returns the envelope's content, or the body itself if it has no envelope. */
    public static String of(String body, ResultSerializer json) {
        try {
            return json.fromJson(body, Map.class) instanceof Map<?, ?> envelope
                            && envelope.get(MESSAGE) instanceof String message
                    ? message
                    : body;
        } catch (RuntimeException noJson) {
            return body;
        }
    }
}
