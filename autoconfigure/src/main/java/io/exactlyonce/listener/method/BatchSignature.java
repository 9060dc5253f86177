package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.exactlyonce.Claim;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;

/**
 * Where a batch listener's method takes what: {@code List<T>} or {@code List<Message<T>>}, and optionally {@code
 * List<Claim>} and awspring's {@code BatchVisibility}.
 *
 * @param list position of the messages
 * @param claims position of their claims, or -1
 * @param visibility position of the batch's visibility, or -1
 * @param payloadType what the messages carry
 */
record BatchSignature(int list, int claims, int visibility, Class<?> payloadType) {

    private static final int MESSAGE_LEVEL = 3;

    /** Returns whether a method takes more than one message at a time, or seems to. */
    static boolean isBatch(Method method) {
        return parameters(method).stream().anyMatch(BatchSignature::isCollection);
    }

    /** Returns whether a parameter takes the claims of a batch. */
    static boolean isClaims(MethodParameter parameter) {
        return parameter.getParameterType() == List.class
                && ResolvableType.forMethodParameter(parameter).getGeneric(0).toClass() == Claim.class;
    }

    /** Returns where a method takes what, as far as that can be told; {@code -1} for what it does not take. */
    static BatchSignature of(Method method) {
        int list = -1;
        int claims = -1;
        int visibility = -1;
        for (MethodParameter parameter : parameters(method)) {
            if (isClaims(parameter)) {
                claims = parameter.getParameterIndex();
            } else if (parameter.getParameterType() == List.class) {
                list = parameter.getParameterIndex();
            } else if (parameter.getParameterType() == BatchVisibility.class) {
                visibility = parameter.getParameterIndex();
            }
        }
        return new BatchSignature(list, claims, visibility, list < 0 ? Object.class : payloadType(method, list));
    }

    /** @throws InvalidListenerException if the method cannot be called with batches */
    static void requireFit(Method method) {
        int list = -1;
        int claims = -1;
        int visibility = -1;
        for (MethodParameter parameter : parameters(method)) {
            int index = parameter.getParameterIndex();
            if (isClaims(parameter)) {
                claims = single(method, claims, index, "List<Claim>");
            } else if (parameter.getParameterType() == List.class) {
                list = single(method, list, index, "list of messages");
            } else if (parameter.getParameterType() == BatchVisibility.class) {
                visibility = single(method, visibility, index, "BatchVisibility");
            } else {
                throw unfit(method, parameter);
            }
        }
        requireUsable(method, list);
    }

    static List<MethodParameter> parameters(Method method) {
        return IntStream.range(0, method.getParameterCount())
                .mapToObj(index -> new MethodParameter(method, index))
                .toList();
    }

    private static boolean isCollection(MethodParameter parameter) {
        return Collection.class.isAssignableFrom(parameter.getParameterType());
    }

    private static int single(Method method, int before, int index, String what) {
        if (before >= 0) {
            throw new InvalidListenerException(method, "it takes more than one " + what, "take it once");
        }
        return index;
    }

    private static InvalidListenerException unfit(Method method, MethodParameter parameter) {
        Class<?> type = parameter.getParameterType();
        String problem = "it takes batches of messages, and a " + type.getSimpleName() + " besides";
        if (type == Claim.class) {
            return new InvalidListenerException(
                    method, problem, "take a List<Claim>: one claim for each message, in the same order");
        }
        if (type == BatchAcknowledgement.class) {
            return new InvalidListenerException(
                    method, problem, "leave it out: a message is deleted when its claim is completed");
        }
        if (isCollection(parameter)) {
            return new InvalidListenerException(
                    method,
                    "it takes its messages as a " + type.getSimpleName(),
                    "take a List<T> or a List<Message<T>>");
        }
        return new InvalidListenerException(
                method, problem, "take a List<Message<T>>, whose messages have their own headers");
    }

    private static void requireUsable(Method method, int list) {
        if (list < 0) {
            throw new InvalidListenerException(
                    method, "it takes claims, but no messages", "take a List<T> or a List<Message<T>>");
        }
        if (CompletionStage.class.isAssignableFrom(method.getReturnType())) {
            throw new InvalidListenerException(
                    method,
                    "it takes batches, and its result is asynchronous: the claims would be completed before the work is done",
                    "return when the work is done");
        }
        if (payloadType(method, list) == Object.class) {
            throw new InvalidListenerException(
                    method,
                    "its list does not say what the messages carry",
                    "take a List<T> or a List<Message<T>> with a type in the place of T");
        }
    }

    /** Returns {@code Object} where the list does not say. */
    private static Class<?> payloadType(Method method, int list) {
        ResolvableType type = ResolvableType.forMethodParameter(method, list);
        Class<?> element = type.getNested(2).toClass();
        return Message.class.isAssignableFrom(element)
                ? type.getNested(MESSAGE_LEVEL).toClass()
                : element;
    }

    /** Returns what an item of the resolved list carries. */
    static @Nullable Object payload(Object item) {
        return item instanceof Message<?> message ? message.getPayload() : item;
    }
}
