package io.exactlyonce.listener.method;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.PropertyResolver;

/**
 * The settings of all listeners. The configuration of a listener overrides the listener's annotation.
 *
 * @param properties resolve {@code ${...}}
 * @param otherwise the default mode
 * @param configured the settings of single listeners, by the listener's ID
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

    /** Creates settings in which no single listener is configured. */
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

    /**
     * Returns a listener's policy for a key that comes with other content: the configured policy, or else the
     * annotation's.
     */
    MismatchPolicy onMismatch(ListenerDeclaration declared) {
        MismatchPolicy own = own(declared).onMismatch();
        return own != null ? own : declared.annotation().onMismatch();
    }

    /** Returns a listener's policy for messages without a key: the configured policy, or else the annotation's. */
    MissingKeyPolicy whenKeyMissing(ListenerDeclaration declared) {
        MissingKeyPolicy own = own(declared).whenKeyMissing();
        return own != null ? own : declared.annotation().whenKeyMissing();
    }
}
