package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.Principal;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;

class ShownKeysTests {

    private static final String HIDDEN = SanitizableData.SANITIZED_VALUE;

    private record Caller(@Nullable Principal getPrincipal, Set<String> roles) implements SecurityContext {
        @Override
        public boolean isUserInRole(String role) {
            return roles.contains(role);
        }
    }

    private static final Caller OPERATOR = new Caller(() -> "operator", Set.of("OPERATOR"));
    private static final Caller VIEWER = new Caller(() -> "viewer", Set.of("VIEWER"));
    private static final Caller NOBODY = new Caller(null, Set.of());

    private static List<String> shown(Show show, Set<String> roles, SanitizingFunction... functions) {
        ShownKeys keys = new ShownKeys(show, roles, List.of(functions));
        return List.of(
                keys.shown(OPERATOR, "card-4711"), keys.shown(VIEWER, "card-4711"), keys.shown(NOBODY, "card-4711"));
    }

    @Test
    void keysAreShownToThoseWhomThePropertiesName() {
        assertThat(shown(Show.NEVER, Set.of("OPERATOR"))).containsExactly(HIDDEN, HIDDEN, HIDDEN);
        assertThat(shown(Show.WHEN_AUTHORIZED, Set.of("OPERATOR"))).containsExactly("card-4711", HIDDEN, HIDDEN);
        assertThat(shown(Show.WHEN_AUTHORIZED, Set.of())).containsExactly("card-4711", "card-4711", HIDDEN);
        assertThat(shown(Show.ALWAYS, Set.of())).containsExactly("card-4711", "card-4711", "card-4711");
    }

    @Test
    void applicationsFunctionsMayHideMore() {
        SanitizingFunction ofOurs = SanitizingFunction.sanitizeValue().ifKeyEquals(ShownKeys.NAME);

        assertThat(shown(Show.ALWAYS, Set.of(), ofOurs)).containsExactly(HIDDEN, HIDDEN, HIDDEN);
    }
}
