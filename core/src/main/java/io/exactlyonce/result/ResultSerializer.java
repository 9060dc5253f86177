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
     * Writes a result of a generic type, such as {@code List<Line>}. If {@code Line} has subclasses, a serializer may
     * need the type to write the subclass of each element.
     *
     * @throws RuntimeException if the result cannot be written
     */
    default String toJson(Object result, Type type) {
        return toJson(result);
    }

    /**
     * Reads a result. Only {@code type} decides which classes may be created. The stored text must not name other
     * classes.
     *
     * @throws RuntimeException if the text does not fit the type
     */
    @Nullable Object fromJson(String json, Type type);

    /**
     * Returns why results of a type can never be read back, for example because the type is an interface without a
     * known implementation. Returns {@code null} if they can be read. The reason quotes no stored result.
     */
    default @Nullable String whyUnreadable(Type type) {
        return null;
    }
}
