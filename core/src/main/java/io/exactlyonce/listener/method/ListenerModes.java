package io.exactlyonce.listener.method;

import io.exactlyonce.Mode;
import java.util.Locale;
import org.springframework.core.env.PropertyResolver;

/**
 * Which listeners are observed, and which enforced.
 *
 * @param properties resolve {@code ${...}}
 * @param otherwise for listeners that say nothing
 */
public record ListenerModes(PropertyResolver properties, Mode otherwise) {

    /** @throws InvalidListenerException if it asks for a mode that there is not */
    boolean isObserved(ListenerDeclaration declared) {
        String name =
                properties.resolveRequiredPlaceholders(declared.says().mode()).strip();
        try {
            return Mode.OBSERVE == (name.isEmpty() ? otherwise : Mode.valueOf(name.toUpperCase(Locale.ROOT)));
        } catch (IllegalArgumentException unknown) {
            throw declared.refused(
                    "mode = '%s' is none of 'enforce' and 'observe'".formatted(name),
                    "write one of them, or leave it out for exactly-once.mode");
        }
    }
}
