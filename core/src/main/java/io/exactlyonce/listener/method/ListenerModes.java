package io.exactlyonce.listener.method;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.PropertyResolver;

/**
 * The settings of listeners. A listener's configuration overrides its annotation.
 *
 * @param properties resolve {@code ${...}}
 * @param otherwise the default mode
 * @param configured the settings of single listeners, by id
 */
public record ListenerModes(PropertyResolver properties, ClaimMode otherwise, Map<String, Own> configured) {

    private static final Own NOTHING = new Own(null, null, null, null, null);

    /** The configuration of one listener. A value that is {@code null} leaves the annotation's value in place. */
    public record Own(
            @Nullable ClaimMode mode,
            @Nullable Duration timeout,
            @Nullable MismatchPolicy onMismatch,
            @Nullable MissingKeyPolicy whenKeyMissing,
            @Nullable Integer maxAttempts) {}

    /** Makes settings without configuration of single listeners. */
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

    /** Returns a listener's policy for other content of a key, or else the policy of all listeners. */
    MismatchPolicy onMismatch(ListenerDeclaration declared) {
        MismatchPolicy own = own(declared).onMismatch();
        return own != null ? own : declared.annotation().onMismatch();
    }

    /** Returns a listener's policy for messages without a key. */
    MissingKeyPolicy whenKeyMissing(ListenerDeclaration declared) {
        MissingKeyPolicy own = own(declared).whenKeyMissing();
        return own != null ? own : declared.annotation().whenKeyMissing();
    }
}
