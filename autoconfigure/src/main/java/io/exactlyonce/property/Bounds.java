package io.exactlyonce.property;

import java.time.Duration;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.format.annotation.DurationFormat.Unit;

/** Checks values against their bounds. Exceptions name value, bound and remedy. */
public final class Bounds {

    private Bounds() {}

    /**
     * Requires a length of time, a size or a number.
     *
     * @param property its full name
     * @param value {@code null} if there is none
     * @throws InvalidPropertyException if the value is less or more, or no number
     */
    public static <T extends Comparable<T>> void require(String property, @Nullable T value, T least, T most) {
        if (value != null && (value.compareTo(least) < 0 || value.compareTo(most) > 0)) {
            // Spring takes a number without a unit for milliseconds; most that are too short were meant to be seconds.
            String unit = value instanceof Duration ? ", with its unit, such as %s: 30 alone is 30 ms" : "";
            throw new InvalidPropertyException(
                    property,
                    "%s (%s) must be from %s to %s".formatted(property, text(value), text(least), text(most)),
                    "set it within these bounds" + unit.formatted(text(least)));
        }
    }

    /**
     * Requires that one length of time is not shorter than another one.
     *
     * @param longer full name of the property that must not be the shorter one
     * @param value its value; {@code null} if there is none
     * @param shorter full name of the other
     * @param least its value; {@code null} if there is none
     * @param why the consequence of a violation
     * @throws InvalidPropertyException if it is shorter
     */
    public static void requireOrder(
            String longer, @Nullable Duration value, String shorter, @Nullable Duration least, String why) {
        if (value != null && least != null && value.compareTo(least) < 0) {
            throw new InvalidPropertyException(
                    longer,
                    "%s (%s) must be at least %s (%s): %s".formatted(longer, text(value), shorter, text(least), why),
                    "set %s to at least %s, or %s to at most %s".formatted(longer, text(least), shorter, text(value)));
        }
    }

    /**
     * Requires that a property has a value of its own, and not the one by which an annotation refers to the property.
     *
     * @param property its full name
     * @param value {@code null} if there is none
     * @param reference the annotation's value
     * @throws InvalidPropertyException if it is the annotation's
     */
    public static <E extends Enum<E>> void requireOwn(String property, @Nullable E value, E reference) {
        if (value == reference) {
            throw new InvalidPropertyException(
                    property,
                    "%s (%s) refers to itself: only an annotation has this value".formatted(property, text(reference)),
                    Stream.of(reference.getDeclaringClass().getEnumConstants())
                            .filter(each -> each != reference)
                            .map(Bounds::text)
                            .collect(Collectors.joining(", ", "set it to one of ", "")));
        }
    }

    private static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Writes a length of time as Spring Boot reads it: a number and one unit, the longest that fits. */
    private static String text(Object value) {
        if (!(value instanceof Duration duration)) {
            return String.valueOf(value);
        }
        return Stream.of(Unit.DAYS, Unit.HOURS, Unit.MINUTES)
                .filter(unit -> !duration.isZero()
                        && duration.equals(Duration.of(unit.longValue(duration), unit.asChronoUnit())))
                .findFirst()
                .orElse(duration.toNanosPart() == 0 ? Unit.SECONDS : Unit.MILLIS)
                .print(duration);
    }
}
