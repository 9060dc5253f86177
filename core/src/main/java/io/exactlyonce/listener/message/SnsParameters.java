package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import java.util.List;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;

/** Detects handler parameters that take an SNS notification, or only the message inside it. */
public final class SnsParameters {

    private SnsParameters() {}

    public static boolean isOne(MethodParameter parameter) {
        return parameter.hasParameterAnnotation(SnsNotificationMessage.class)
                || carriesNotifications(ResolvableType.forMethodParameter(parameter));
    }

    /**
     * Returns whether a type is a notification, or a list of notifications, or a message with a notification as its
     * payload.
     */
    private static boolean carriesNotifications(ResolvableType type) {
        Class<?> raw = type.toClass();
        return SnsNotification.class.isAssignableFrom(raw)
                || ((raw == List.class || Message.class.isAssignableFrom(raw))
                        && carriesNotifications(type.getGeneric(0)));
    }
}
