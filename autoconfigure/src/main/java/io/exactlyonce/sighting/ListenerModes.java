package io.exactlyonce.sighting;

import io.exactlyonce.Mode;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.springframework.core.env.PropertyResolver;

/**
 * Which listeners are observed, and which enforced.
 *
 * @param properties resolve {@code ${...}}
 * @param otherwise for listeners that say nothing
 */
public record ListenerModes(PropertyResolver properties, Mode otherwise) {

    /**
     * Returns the mode that an annotation's attribute asks for.
     *
     * @throws IllegalArgumentException if there is no such mode
     */
    public Mode of(String attribute) {
        String name = properties.resolveRequiredPlaceholders(attribute).strip();
        if (name.isEmpty()) {
            return otherwise;
        }
        return Arrays.stream(Mode.values())
                .filter(mode -> mode.name().equalsIgnoreCase(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("mode = '%s' is none of %s".formatted(name, names())));
    }

    /** Returns all there are, as a remedy names them. */
    public static String names() {
        return Arrays.stream(Mode.values())
                .map(mode -> "'" + mode.name().toLowerCase(Locale.ROOT) + "'")
                .collect(Collectors.joining(" and "));
    }
}
