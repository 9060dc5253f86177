package io.exactlyonce.listener.method;

import io.exactlyonce.visibility.VisibilityWindow;
import java.lang.reflect.Method;
import java.time.Duration;
import org.springframework.boot.convert.DurationStyle;

/** The longest run of a handler, as its annotation says it. */
final class HandlerTimeout {

    private static final Duration SHORTEST = Duration.ofSeconds(1);

    private HandlerTimeout() {}

    /** @throws InvalidListenerException if the text is no duration from 1 s to 12 h */
    static Duration parse(String text, Method method) {
        Duration timeout;
        try {
            timeout = DurationStyle.detectAndParse(text);
        } catch (IllegalArgumentException | ArithmeticException unreadable) {
            throw invalid(method, text, "is no duration");
        }
        if (timeout.compareTo(SHORTEST) < 0 || timeout.compareTo(VisibilityWindow.CEILING) > 0) {
            throw invalid(method, text, "must be from 1s to 12h");
        }
        return timeout;
    }

    private static InvalidListenerException invalid(Method method, String text, String problem) {
        return new InvalidListenerException(
                method,
                "its timeout '%s' %s".formatted(text, problem),
                "write a number with a unit, such as 90s or 5m, or leave the timeout out");
    }
}
