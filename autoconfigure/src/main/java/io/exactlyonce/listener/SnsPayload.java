package io.exactlyonce.listener;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.delivery.ResultReader;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Map;

/**
 * What was published to SNS, as an SQS message carries it in an envelope. The envelope is another one each time: only what is
 * in it tells whether two messages say the same.
 */
final class SnsPayload {

    private static final String MESSAGE = "Message";

    private SnsPayload() {}

    /** Tells whether a method takes messages out of their envelopes. */
    static boolean isTakenBy(Method method) {
        return Arrays.stream(method.getParameters()).anyMatch(SnsPayload::isTaken);
    }

    private static boolean isTaken(Parameter parameter) {
        return parameter.isAnnotationPresent(SnsNotificationMessage.class)
                || SnsNotification.class.isAssignableFrom(parameter.getType());
    }

    /** Returns what the envelope carries; a body that is no envelope as it is. */
    static String of(String body, ResultReader json) {
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
