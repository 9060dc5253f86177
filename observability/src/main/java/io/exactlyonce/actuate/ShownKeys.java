package io.exactlyonce.actuate;

import java.util.Collection;
import java.util.Set;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;

/**
 * Decides which callers see keys, because keys may be personal data. The rules are those of {@code show-values} in
 * Spring Boot's endpoints {@code env} and {@code configprops}.
 */
public final class ShownKeys {

    /** The name under which keys are passed to an application's {@link SanitizingFunction}, which may mask them. */
    public static final String NAME = "exactlyonce.key";

    private final Show show;
    private final Set<String> roles;
    private final Sanitizer sanitizer;

    /**
     * @param show whether keys are shown always, never, or to authorized callers
     * @param roles roles of authorized callers; if empty, all authenticated callers are authorized
     * @param functions functions of the application, which may mask further keys
     */
    public ShownKeys(Show show, Collection<String> roles, Iterable<SanitizingFunction> functions) {
        this.show = show;
        this.roles = Set.copyOf(roles);
        this.sanitizer = new Sanitizer(functions);
    }

    /** Returns the key, masked if the caller may not see it. */
    String shown(SecurityContext caller, String key) {
        return String.valueOf(sanitizer.sanitize(new SanitizableData(null, NAME, key), show.isShown(caller, roles)));
    }
}
