package io.exactlyonce.property;

import java.time.Duration;
import org.springframework.util.unit.DataSize;

/** Whether values are within their bounds. What is refused names value, bound and remedy. */
public final class Bounds {

    private static final String REMEDY = "set it within these bounds";

    private Bounds() {}

    /**
     * Requires a length of time.
     *
     * @param property its full name
     * @throws InvalidPropertyException if the value is shorter or longer
     */
    public static void require(String property, Duration value, Duration least, Duration most) {
        // Spring takes a number without a unit for milliseconds; most that are too short were meant to be seconds.
        require(
                property,
                value,
                least,
                most,
                REMEDY + ", with its unit, such as %s: 30 alone is 30 ms".formatted(text(least)));
    }

    /**
     * Requires a size.
     *
     * @param property its full name
     * @throws InvalidPropertyException if the value is smaller or larger
     */
    public static void require(String property, DataSize value, DataSize least, DataSize most) {
        require(property, value, least, most, REMEDY + ", with its unit, such as 64KB");
    }

    /**
     * Requires a number.
     *
     * @param property its full name
     * @throws InvalidPropertyException if the value is less or more, or no number
     */
    public static <N extends Number & Comparable<N>> void require(String property, N value, N least, N most) {
        require(property, value, least, most, REMEDY);
    }

    /**
     * Requires that one length of time is not shorter than another one.
     *
     * @param longer full name of the property that must not be the shorter one
     * @param shorter full name of the other
     * @param why what would happen otherwise
     * @throws InvalidPropertyException if it is shorter
     */
    public static void requireOrder(String longer, Duration value, String shorter, Duration least, String why) {
        if (value.compareTo(least) < 0) {
            throw new InvalidPropertyException(
                    longer,
                    "%s (%s) must be at least %s (%s): %s".formatted(longer, text(value), shorter, text(least), why),
                    "set %s to at least %s, or %s to at most %s".formatted(longer, text(least), shorter, text(value)));
        }
    }

    private static <T extends Comparable<T>> void require(String property, T value, T least, T most, String remedy) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new InvalidPropertyException(
                    property,
                    "%s (%s) must be from %s to %s".formatted(property, text(value), text(least), text(most)),
                    remedy);
        }
    }

    private static String text(Object value) {
        if (value instanceof Duration duration) {
            return duration.toNanosPart() == 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
        }
        return String.valueOf(value);
    }
}
