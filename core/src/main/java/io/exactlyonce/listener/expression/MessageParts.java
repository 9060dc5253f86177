package io.exactlyonce.listener.expression;

import static io.exactlyonce.listener.expression.Known.Role.SYSTEM_ATTRIBUTES;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.util.StringUtils;

/**
 * Decides which headers, and which parts of SQS's own message, a key may consist of. A value that differs in each
 * receive of a message cannot be a key, and neither can a value that many messages share. All parts of the payload may
 * be used.
 */
final class MessageParts {

    private static final Set<Class<?>> WITH_HEADERS = Set.of(
            Message.class,
            MessageHeaders.class,
            MessageHeaderAccessor.class,
            software.amazon.awssdk.services.sqs.model.Message.class);

    /** Methods that read all headers together. No key may use them, because some headers differ in each receive. */
    private static final Set<String> WHOLE = Set.of(
            "toString",
            "hashCode",
            "equals",
            "values",
            "entrySet",
            "forEach",
            "toBuilder",
            "copy",
            "getValueForField",
            "getShortLogMessage",
            "getDetailedLogMessage");

    /**
     * Methods without parameters that read a whole map. SpEL may also call them for a property, such as
     * {@code #headers.values}.
     */
    private static final Set<String> WHOLE_MAP = Set.of("toString", "hashCode", "values", "entrySet");

    private static final Set<String> BY_NAME = Set.of("get", "getOrDefault", "getHeader");

    /** Methods of SQS's message that return all its system attributes. */
    private static final Set<String> ATTRIBUTES = Set.of("attributes", "attributesAsStrings");

    private static final String RECEIPT_HANDLE = "receiptHandle";

    private final FrameworkHeaders headers;
    private final Refusal refusal;

    MessageParts(FrameworkHeaders headers, Refusal refusal) {
        this.headers = headers;
        this.refusal = refusal;
    }

    /**
     * Returns what is known about a property of a message, its headers or its system attributes; {@code null} if this
     * class has no rule for the property.
     */
    @Nullable Known property(Known receiver, String name) {
        boolean isMap = receiver.role() == SYSTEM_ATTRIBUTES || receiver.is(MessageHeaders.class);
        if (isMap && WHOLE_MAP.contains(name)) {
            throw whole(receiver);
        }
        if (receiver.role() == SYSTEM_ATTRIBUTES) {
            return headers.systemAttribute(name);
        }
        if (!hasHeaders(receiver)) {
            return null;
        }
        String lower = StringUtils.uncapitalize(name);
        // SpEL looks for an entry of a map before it looks for a property. So a name is looked up as a header first.
        if (receiver.is(MessageHeaders.class) && !lower.equals("class") && !lower.equals("empty")) {
            return headers.header(headers.isMadeBySpring(lower) ? lower : name);
        }
        return method(receiver, name, List.of());
    }

    /**
     * Returns what is known about the result of a method of a message, its headers or its system attributes; {@code
     * null} if this class has no rule for the method.
     */
    @Nullable Known method(Known receiver, String name, List<Known> arguments) {
        Object named = arguments.isEmpty() ? null : arguments.get(0).constant();
        if (receiver.role() == SYSTEM_ATTRIBUTES) {
            requireParts(receiver, name);
            return BY_NAME.contains(name) && named != null ? headers.systemAttribute(named) : null;
        }
        if (!hasHeaders(receiver)) {
            return null;
        }
        requireParts(receiver, name);
        if (BY_NAME.contains(name) && named != null) {
            return headers.header(named);
        }
        if (!arguments.isEmpty()) {
            return null;
        }
        String property = StringUtils.uncapitalize(name.startsWith("get") ? name.substring(3) : name);
        if (receiver.is(software.amazon.awssdk.services.sqs.model.Message.class)) {
            return ofSqs(receiver, property);
        }
        if (receiver.is(MessageHeaderAccessor.class) && name.equals("toMap")) {
            return receiver.read(MessageHeaders.class);
        }
        return !receiver.is(Message.class) && headers.isMadeBySpring(property) ? headers.header(property) : null;
    }

    private @Nullable Known ofSqs(Known receiver, String property) {
        if (property.equals(RECEIPT_HANDLE)) {
            throw refusal.of(
                    "reads the receipt handle, which is another one for each receive", FrameworkHeaders.BUSINESS_KEY);
        }
        return ATTRIBUTES.contains(property) ? receiver.read(Map.class).as(SYSTEM_ATTRIBUTES) : null;
    }

    /**
     * Returns what is known about a header or system attribute in brackets, such as {@code #headers['tenant']}. Returns
     * {@code null} if the name in the brackets is not constant, or if the value before them is no map of headers or
     * system attributes.
     */
    @Nullable Known entry(Known receiver, Known index) {
        if (index.constant() == null) {
            return null;
        }
        if (receiver.role() == SYSTEM_ATTRIBUTES) {
            return headers.systemAttribute(index.constant());
        }
        return receiver.is(MessageHeaders.class) ? headers.header(index.constant()) : null;
    }

    private void requireParts(Known receiver, String member) {
        if (WHOLE.contains(member)) {
            throw whole(receiver);
        }
    }

    /**
     * Rejects a value that contains all headers, such as {@code #headers} itself, because some headers differ in each
     * receive.
     *
     * @throws RuntimeException if the value is rejected
     */
    void requirePart(Known value) {
        if (value.role() == SYSTEM_ATTRIBUTES || hasHeaders(value)) {
            throw whole(value);
        }
    }

    static boolean hasHeaders(Known value) {
        return WITH_HEADERS.stream().anyMatch(value::is);
    }

    private RuntimeException whole(Known value) {
        return refusal.of(
                "reads all of %s, also the headers that the framework makes anew for each receive"
                        .formatted(
                                value.role() == SYSTEM_ATTRIBUTES
                                        ? "the system attributes"
                                        : value.raw().getName()),
                "name what it reads, such as #headers['tenant']");
    }
}
