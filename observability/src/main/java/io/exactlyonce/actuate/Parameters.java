package io.exactlyonce.actuate;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads the parameters of requests, from a query or from a JSON body. If a value is not valid, the methods throw
 * {@link IllegalArgumentException}. The exception's message is shown to the caller.
 */
final class Parameters {

    private static final int LONGEST_REASON = 500;

    /** The latest time that stores can keep. */
    private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");

    private Parameters() {}

    /** Returns a required text. A parameter that a query contains twice arrives as a list, and is rejected. */
    static String text(String name, @Nullable Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException(value == null ? name + " is missing" : name + " must be one text");
    }

    static @Nullable String optionalText(String name, @Nullable Object value) {
        return value == null ? null : text(name, value);
    }

    /** Returns a whole number from 1 to {@code most}. Returns {@code standard} if the parameter is missing. */
    static int number(String name, @Nullable Object value, int standard, int most) {
        if (value == null) {
            return standard;
        }
        try {
            int number = Integer.parseInt(value.toString());
            if (number >= 1 && number <= most) {
                return number;
            }
        } catch (NumberFormatException other) {
            // Text that is not a number is rejected below.
        }
        throw new IllegalArgumentException("%s must be a number from 1 to %d".formatted(name, most));
    }

    static boolean flag(String name, @Nullable Object value) {
        String text = value == null ? "false" : value.toString();
        if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException(name + " must be true or false");
        }
        return text.equals("true");
    }

    static @Nullable Instant time(String name, @Nullable Object value) {
        String text = value == null ? null : text(name, value);
        try {
            Instant time = text == null ? null : Instant.parse(text);
            if (time == null || (time.isAfter(Instant.EPOCH) && time.isBefore(LATEST))) {
                return time;
            }
        } catch (DateTimeParseException other) {
            // Text that is not a time is rejected below.
        }
        throw new IllegalArgumentException(
                name + " must be a time such as 2026-11-28T12:00:00.123456Z, as an answer has it");
    }

    static UUID claimId(String name, @Nullable Object value) {
        try {
            return UUID.fromString(text(name, value));
        } catch (IllegalArgumentException other) {
            throw new IllegalArgumentException(
                    value instanceof String
                            ? name + " must be the id that the claim is shown with"
                            : String.valueOf(other.getMessage()),
                    other);
        }
    }

    /**
     * Splits a text at its commas, and removes duplicates. A JSON array is not possible, because Spring Boot passes no
     * lists to endpoints.
     */
    static Set<String> texts(String name, @Nullable Object value, int most) {
        Set<String> texts = new LinkedHashSet<>();
        for (String each : text(name, value).split(",", -1)) {
            texts.add(each.strip());
        }
        if (texts.contains("") || texts.size() > most) {
            throw new IllegalArgumentException(
                    "%s must be one text of 1 to %d entries, with commas in between".formatted(name, most));
        }
        return texts;
    }

    /** Returns the reason that a caller gives for a change. */
    static String reason(@Nullable Object value) {
        String reason = text("reason", value);
        if (reason.isBlank() || reason.length() > LONGEST_REASON) {
            throw new IllegalArgumentException(
                    "reason must have 1 to %d characters: the log shows it".formatted(LONGEST_REASON));
        }
        return reason;
    }
}
