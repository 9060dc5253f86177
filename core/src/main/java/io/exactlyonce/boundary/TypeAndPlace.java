package io.exactlyonce.boundary;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.MessageHandlingException;
import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;
import org.springframework.validation.BindingResult;
import org.springframework.validation.FieldError;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JacksonException.Reference;
import tools.jackson.core.TokenStreamLocation;

/**
 * Says why a message cannot be read: the type of the failure, and the place in the message (for example {@code at
 * $.order.amount}). Shows nothing of the message's content, which may be, for example, a card number.
 */
public final class TypeAndPlace {

    private static final int MOST_STEPS = 10;

    /**
     * Matches an ordinary field name. Other names are not shown, because a sender may put content into the name of a
     * field.
     */
    private static final String NAME = "[\\w$-]{1,64}";

    /** Matches Spring's message about a missing header. The message contains the header's name. */
    private static final Pattern MISSING_HEADER =
            Pattern.compile("Missing header '([^']{1,100})' for method parameter");

    private TypeAndPlace() {}

    public static String of(Throwable failure) {
        String type = Causes.root(failure).getClass().getName();
        return Causes.of(failure)
                .map(cause -> known(cause, type))
                .filter(reason -> !reason.isEmpty())
                .findFirst()
                .orElse(type);
    }

    private static String known(Throwable failure, String type) {
        if (failure instanceof JacksonException json) {
            return type + (json.getPath().isEmpty() ? location(json.getLocation()) : " at " + path(json.getPath()));
        }
        if (failure instanceof MethodArgumentNotValidException invalid && invalid.getBindingResult() != null) {
            return type + " at " + fields(invalid.getBindingResult());
        }
        // The header's name may be shown, because it comes from the method's declaration, and not from the sender.
        Matcher missing = MISSING_HEADER.matcher(String.valueOf(failure.getMessage()));
        return failure instanceof MessageHandlingException && missing.lookingAt()
                ? "the header '%s' is missing".formatted(missing.group(1))
                : "";
    }

    private static String location(TokenStreamLocation location) {
        return location == null || location.getLineNr() < 1
                ? ""
                : " at line %d, column %d".formatted(location.getLineNr(), location.getColumnNr());
    }

    private static String path(List<Reference> path) {
        return path.stream().limit(MOST_STEPS).map(TypeAndPlace::step).collect(Collectors.joining("", "$", ""));
    }

    /** Leaves out the keys of maps, because they are content. */
    private static String step(Reference reference) {
        String name = reference.getPropertyName();
        if (name == null) {
            return "[" + reference.getIndex() + "]";
        }
        return "." + (isMap(reference.from()) || !name.matches(NAME) ? "*" : name);
    }

    private static boolean isMap(@Nullable Object from) {
        return from instanceof Map || (from instanceof Class<?> type && Map.class.isAssignableFrom(type));
    }

    private static String fields(BindingResult binding) {
        return binding.getFieldErrors().stream()
                .map(TypeAndPlace::field)
                .distinct()
                .sorted()
                .limit(MOST_STEPS)
                .collect(Collectors.joining(", "));
    }

    /**
     * Leaves out everything between the first and the last bracket, because it may be the key of a map. Such a key is
     * content, and may contain brackets.
     */
    private static String field(FieldError error) {
        return "%s (%s)".formatted(error.getField().replaceAll("(?s)\\[.*]", "[*]"), error.getCode());
    }
}
