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
     * Writes a result of a generic type, such as {@code List<Line>}. A serializer may need the type to write the names
     * of subclasses of {@code Line}.
     *
     * @throws RuntimeException if the result cannot be written
     */
    default String toJson(Object result, Type type) {
        return toJson(result);
    }

    /**
     * Reads a result. Only the given type decides which class is created, and never the stored text.
     *
     * @throws RuntimeException if the text does not fit the type
     */
    @Nullable Object fromJson(String json, Type type);

    /**
     * Returns why results of a type can never be read, for example because it is an interface without a known
     * implementation. Returns {@code null} if they can be read. The reason quotes no stored result.
     */
    default @Nullable String whyUnreadable(Type type) {
        return null;
    }
}
