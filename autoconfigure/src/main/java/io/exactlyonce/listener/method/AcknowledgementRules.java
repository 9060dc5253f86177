package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/**
 * Who may delete a message: the engine, once its key's completion is recorded. A handler that deletes it earlier, or a mode
 * that deletes it after a failure, would lose it.
 */
final class AcknowledgementRules {

    private AcknowledgementRules() {}

    /** @throws InvalidListenerException if the method wants to acknowledge in another way */
    static void require(Method method, SqsListener seen, UnaryOperator<String> placeholders) {
        String mode = placeholders.apply(seen.acknowledgementMode());
        if (!mode.isEmpty() && !mode.equals(AcknowledgementMode.ON_SUCCESS.name())) {
            throw new InvalidListenerException(
                    method,
                    "its acknowledgementMode is %s, but a message may be deleted only when its key is completed"
                            .formatted(mode),
                    "leave acknowledgementMode out");
        }
        if (Arrays.stream(method.getParameterTypes()).anyMatch(AcknowledgementRules::acknowledges)) {
            throw new InvalidListenerException(
                    method,
                    "it takes an Acknowledgement, by which it could delete its message before its key is completed",
                    "leave the parameter out: the message is deleted when the handler has succeeded, and never if it fails");
        }
    }

    private static boolean acknowledges(Class<?> parameter) {
        return Acknowledgement.class.isAssignableFrom(parameter)
                || BatchAcknowledgement.class.isAssignableFrom(parameter);
    }
}
