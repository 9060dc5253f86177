package io.exactlyonce.result;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** Writes results of handlers as JSON, and reads them back. */
public interface ResultSerializer {

    /**
     * Writes a result.
     *
     * @throws RuntimeException if the result cannot be written
     */
    String toJson(Object result);

    /**
     * Writes a result whose type has type arguments, such as {@code List<Line>}. The names of the elements' subtypes
     * are written only if the type names the elements' type.
     *
     * @throws RuntimeException if the result cannot be written
     */
    default String toJson(Object result, Type type) {
        return toJson(result);
    }

    /**
     * Reads a result. The text cannot name a class, so the type alone decides which object is made.
     *
     * @throws RuntimeException if the text does not fit the type
     */
    @Nullable Object fromJson(String json, Type type);

    /**
     * Returns why no text can be read as a type, for example because the type is an interface that names no
     * implementation. Returns {@code null} if some texts can be read. The returned reason contains no part of a result.
     */
    default @Nullable String whyUnreadable(Type type) {
        return null;
    }
}
