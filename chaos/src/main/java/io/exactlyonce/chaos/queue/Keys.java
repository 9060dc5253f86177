package io.exactlyonce.chaos.queue;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds a message's key in its body, even if the body is not JSON. */
public final class Keys {

    private static final Pattern KEY = Pattern.compile("\"key\":\"([^\"]+)\"");

    private Keys() {}

    public static String of(String body) {
        Matcher key = KEY.matcher(body);
        if (!key.find()) {
            throw new IllegalArgumentException("No key in a message of %d characters".formatted(body.length()));
        }
        return key.group(1);
    }
}
