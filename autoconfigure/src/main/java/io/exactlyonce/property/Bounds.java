package io.exactlyonce.property;

import java.time.Duration;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.format.annotation.DurationFormat.Unit;

/**
 * Checks that the values of properties are within their bounds. Each exception names the value, the bound and the
 * remedy.
 */
public final class Bounds {

    private Bounds() {}

    /**
     * Requires that a property is within its bounds.
     *
     * @param property the property's full name
     * @param value {@code null} if the property is not set
     * @throws InvalidPropertyException if the value is out of bounds, or not a number
     */
    public static <T extends Comparable<T>> void require(String property, @Nullable T value, T least, T most) {
        if (value != null && (value.compareTo(least) < 0 || value.compareTo(most) > 0)) {
            // Spring reads a number without a unit as milliseconds. A user who writes 30 usually means seconds, so the
            // remedy mentions the unit.
            String unit = value instanceof Duration ? ", with its unit, such as %s: 30 alone is 30 ms" : "";
            throw new InvalidPropertyException(
                    property,
                    "%s (%s) must be from %s to %s".formatted(property, text(value), text(least), text(most)),
                    "set it within these bounds" + unit.formatted(text(least)));
        }
    }

    /**
     * Requires that the duration of one property is at least as long as that of another property. Accepts the durations
     * if either property is not set.
     *
     * @param longer full name of the property with the longer duration
     * @param shorter full name of the property with the shorter duration
     * @param why what would happen otherwise, for the exception's message
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
     * Rejects an enum constant that only annotations may use, such as {@code AS_CONFIGURED}. In an annotation, this
     * constant means that the property decides. The property itself must have another value.
     *
     * @param property the property's full name
     * @param value {@code null} if the property is not set
     * @param reference the constant to reject
     * @throws InvalidPropertyException if the property has this constant as its value
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
     * Formats a duration as it is written in properties, in the largest unit that fits (for example {@code 5m} for 300
     * seconds).
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
