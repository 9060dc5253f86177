package io.exactlyonce.listener.method;

import io.exactlyonce.Mode;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.PropertyResolver;

/**
 * The modes of listeners. A listener's configuration overrides its annotation.
 *
 * @param properties resolve {@code ${...}}
 * @param otherwise the default mode
 * @param configured the settings of single listeners, by their ids
 */
public record ListenerModes(PropertyResolver properties, Mode otherwise, Map<String, Own> configured) {

    private static final Own NOTHING = new Own(null, null);

    /**
     * The settings of one listener.
     *
     * @param mode {@code null} for its annotation's
     * @param timeout {@code null} for its annotation's
     */
    public record Own(@Nullable Mode mode, @Nullable Duration timeout) {}

    /** Nothing is configured for single listeners. */
    public ListenerModes(PropertyResolver properties, Mode otherwise) {
        this(properties, otherwise, Map.of());
    }

    Own own(ListenerDeclaration declared) {
        String id = properties.resolveRequiredPlaceholders(declared.seen().id());
        return configured.getOrDefault(id, NOTHING);
    }

    /** @throws InvalidListenerException if its mode is unknown */
    boolean isObserved(ListenerDeclaration declared) {
        Mode own = own(declared).mode();
        return Mode.OBSERVE == (own != null ? own : annotated(declared));
    }

    private Mode annotated(ListenerDeclaration declared) {
        String name = properties
                .resolveRequiredPlaceholders(declared.annotation().mode())
                .strip();
        try {
            return name.isEmpty() ? otherwise : Mode.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException unknown) {
            throw declared.refused(
                    "mode = '%s' is neither 'enforce' nor 'observe'".formatted(name),
                    "write one of them, or leave it out for exactly-once.mode");
        }
    }
}
