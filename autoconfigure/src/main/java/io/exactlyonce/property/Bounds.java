package io.exactlyonce.property;

import java.time.Duration;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.format.annotation.DurationFormat.Unit;

/** Checks values against their bounds. Exceptions name the value, the bound and the remedy. */
public final class Bounds {

    private Bounds() {}

    /**
     * Requires that a duration, a size or a number is within its bounds.
     *
     * @param property the property's full name
     * @param value the value; {@code null} if the property is not set
     * @throws InvalidPropertyException if the value is out of bounds, or not a number
     */
    public static <T extends Comparable<T>> void require(String property, @Nullable T value, T least, T most) {
        if (value != null && (value.compareTo(least) < 0 || value.compareTo(most) > 0)) {
            // The remedy mentions the unit, because Spring reads a number without a unit as milliseconds. Most values
            // that are too short were meant as seconds.
            String unit = value instanceof Duration ? ", with its unit, such as %s: 30 alone is 30 ms" : "";
            throw new InvalidPropertyException(
                    property,
                    "%s (%s) must be from %s to %s".formatted(property, text(value), text(least), text(most)),
                    "set it within these bounds" + unit.formatted(text(least)));
        }
    }

    /**
     * Requires that one duration is at least as long as another.
     *
     * @param longer the full name of the property that must not be shorter
     * @param value the value of {@code longer}; {@code null} if this property is not set
     * @param shorter the full name of the other property
     * @param least the value of {@code shorter}; {@code null} if this property is not set
     * @param why the consequence if {@code longer} is too short
     * @throws InvalidPropertyException if {@code longer} is too short
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
     * Rejects a value that only annotations may have. In an annotation, the value means "the property decides". As the
     * property's own value, it would decide nothing.
     *
     * @param property the property's full name
     * @param value the property's value; {@code null} if the property is not set
     * @param reference the value that only annotations may have
     * @throws InvalidPropertyException if the property has this value
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

    /**
     * Formats a duration as Spring Boot reads it: as a whole number of the largest unit that divides the duration. A
     * value of another type becomes its own text.
     */
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
