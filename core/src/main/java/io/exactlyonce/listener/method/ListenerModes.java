package io.exactlyonce.listener.method;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.PropertyResolver;

/**
 * The listeners' modes and policies. If a listener is configured by properties, these override its annotation.
 *
 * @param properties resolve {@code ${...}}
 * @param otherwise the mode of a listener that sets no mode
 * @param configured the properties of single listeners. The map's keys are listener IDs
 */
public record ListenerModes(PropertyResolver properties, ClaimMode otherwise, Map<String, Own> configured) {

    private static final Own NOTHING = new Own(null, null, null, null, null);

    /** The configuration of one listener. If a setting is {@code null}, the annotation's value applies. */
    public record Own(
            @Nullable ClaimMode mode,
            @Nullable Duration timeout,
            @Nullable MismatchPolicy onMismatch,
            @Nullable MissingKeyPolicy whenKeyMissing,
            @Nullable Integer maxAttempts) {}

    public ListenerModes(PropertyResolver properties, ClaimMode otherwise) {
        this(properties, otherwise, Map.of());
    }

    Own own(ListenerDeclaration declared) {
        String id = properties.resolveRequiredPlaceholders(declared.seen().id());
        return configured.getOrDefault(id, NOTHING);
    }

    boolean isObserved(ListenerDeclaration declared) {
        ClaimMode own = own(declared).mode();
        return ClaimMode.OBSERVE == (own != null ? own : annotated(declared));
    }

    private ClaimMode annotated(ListenerDeclaration declared) {
        ClaimMode mode = declared.annotation().mode();
        return mode == ClaimMode.AS_CONFIGURED ? otherwise : mode;
    }

    /** Returns what a listener does if a message has the key, but not the content, of an earlier message. */
    MismatchPolicy onMismatch(ListenerDeclaration declared) {
        MismatchPolicy own = own(declared).onMismatch();
        return own != null ? own : declared.annotation().onMismatch();
    }

    /** Returns what a listener does with messages without a key. */
    MissingKeyPolicy whenKeyMissing(ListenerDeclaration declared) {
        MissingKeyPolicy own = own(declared).whenKeyMissing();
        return own != null ? own : declared.annotation().whenKeyMissing();
    }
}
