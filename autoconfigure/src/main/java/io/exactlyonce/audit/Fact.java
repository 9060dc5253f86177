package io.exactlyonce.audit;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What was read, or why it is not known.
 *
 * @param value what was read; {@code null} if it is not known
 * @param unknown why it is not known; {@code null} if it is
 */
public record Fact<T>(@Nullable T value, @Nullable String unknown) {

    public static <T> Fact<T> known(T value) {
        return new Fact<>(value, null);
    }

    public static <T> Fact<T> unknown(String why) {
        return new Fact<>(null, why);
    }

    Optional<T> known() {
        return Optional.ofNullable(value);
    }

    /** Returns why it is not known; empty if it is known. */
    String why() {
        return unknown == null ? "" : unknown;
    }
}
