package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.support.resolver.BatchVisibilityHandlerMethodArgumentResolver;
import io.exactlyonce.Claim;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.GenericMessage;

/**
 * Removes messages from a handler's arguments if their keys are not held. Puts the claims of the remaining messages
 * into the arguments that take claims.
 */
final class ListenerArguments {

    private static final BatchVisibilityHandlerMethodArgumentResolver VISIBILITY =
            new BatchVisibilityHandlerMethodArgumentResolver(SqsHeaders.SQS_VISIBILITY_TIMEOUT_HEADER);

    private final ListenerMethod method;
    private final MethodParameter[] parameters;

    ListenerArguments(ListenerMethod method, MethodParameter[] parameters) {
        this.method = method;
        this.parameters = parameters;
    }

    /**
     * Returns the arguments without the messages whose keys are not held.
     *
     * @param passed the arguments for all messages; advice may have changed them
     * @param messages all messages
     * @param wanted the deliveries whose keys are held, in the order of the messages
     * @throws IllegalStateException if advice has added messages to a list, or removed some. Messages and deliveries
     *     can then not be matched
     */
    @Nullable Object[] of(@Nullable Object[] passed, List<Message<?>> messages, List<Delivery> wanted) {
        @Nullable Object[] made = passed.clone();
        for (int index = 0; index < made.length; index++) {
            Class<?> type = parameters[index].getParameterType();
            if (type == Claim.class) {
                made[index] = wanted.get(0).attempt().handlersClaim();
            } else if (ClaimArgumentResolver.isClaims(parameters[index])) {
                made[index] = claims(wanted);
            } else if (method.isBatch() && passed[index] instanceof List<?> items) {
                made[index] = left(items, messages, wanted);
            } else if (method.isBatch() && type == BatchVisibility.class && wanted.size() < messages.size()) {
                made[index] = visibility(parameters[index], messages, wanted);
            }
        }
        return made;
    }

    private static List<Claim> claims(List<Delivery> wanted) {
        List<Claim> claims = new ArrayList<>(wanted.size());
        for (Delivery delivery : wanted) {
            claims.add(delivery.attempt().handlersClaim());
        }
        return claims;
    }

    /** Returns the messages whose keys are held. The handler may change the list. */
    private List<Object> left(List<?> items, List<Message<?>> messages, List<Delivery> wanted) {
        if (wanted.size() == messages.size()) {
            return new ArrayList<>(items);
        }
        if (items.size() != messages.size()) {
            throw new IllegalStateException(
                    ("Advice around %s passed %d of %d messages on, so it is not known which of them to leave out because their "
                                    + "keys are not held; let the advice pass all of them on")
                            .formatted(method, items.size(), messages.size()));
        }
        List<Object> left = new ArrayList<>(wanted.size());
        for (int index = 0; index < items.size(); index++) {
            if (wanted.contains(ReceivedMessage.require(messages.get(index)).delivery())) {
                left.add(items.get(index));
            }
        }
        return left;
    }

    private static Object visibility(MethodParameter parameter, List<Message<?>> messages, List<Delivery> wanted) {
        List<Message<?>> left = new ArrayList<>(wanted.size());
        for (Message<?> message : messages) {
            if (wanted.contains(ReceivedMessage.require(message).delivery())) {
                left.add(message);
            }
        }
        return VISIBILITY.resolveArgument(parameter, new GenericMessage<>(left));
    }
}
